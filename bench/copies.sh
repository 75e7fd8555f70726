#!/bin/sh
# Copies of 16 bytes with glibc's memcpy and with musl's, in turn. Needs gcc and musl-gcc (Debian: gcc, musl-tools) on x86-64.
set -eu
cd "$(dirname "$0")"
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
gcc -O2 -o "$out/glibc" copies.c
musl-gcc -idirafter /usr/include -static -O2 -o "$out/musl" copies.c
for turn in 1 2 3; do
    for library in glibc musl; do
        echo "$turn $library: $("$out/$library")"
    done
done
