/* Copies of 16 bytes to cold lines, as `stopwatt run patterns` makes them: clocks a copy. The length is not known to the compiler, so the C
   library's memcpy does the work. Built and run by copies.sh. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>

enum { SLOT = 2112, SLOTS = 16384, FRAME = 256, HUGE_PAGE = 2 << 20, FRAMES = 4000 };

static unsigned char descriptors[FRAME][16];
static uint32_t order[SLOTS];

int main(void)
{
	const size_t bytes = (size_t)SLOT * SLOTS;
	unsigned char *memory = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("no memory for the packets");
		return 1;
	}
	memory = (unsigned char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
	madvise(memory, bytes, MADV_HUGEPAGE);
	memset(memory, 1, bytes);
	for (uint32_t n = 0; n < SLOTS; n++)
		order[n] = n;
	for (uint32_t n = SLOTS - 1; n > 0; n--) {
		uint32_t other = rand() % (n + 1), kept = order[n];
		order[n] = order[other];
		order[other] = kept;
	}
	volatile size_t sixteen = sizeof(descriptors[0]);
	uint64_t least = UINT64_MAX;
	for (int frame = 0, next = 0; frame < FRAMES; frame++, next = (next + FRAME) % SLOTS) {
		size_t length = sixteen;
		uint64_t ticks = __rdtsc();
		for (int n = 0; n < FRAME; n++) {
			memcpy(memory + (size_t)order[next + n] * SLOT + 8, descriptors[n], length);
			__asm__ volatile("" ::: "memory");
		}
		_mm_mfence();
		ticks = __rdtsc() - ticks;
		if (ticks < least)
			least = ticks;
	}
	printf("%.1f clocks a copy\n", least / (double)FRAME);
	return 0;
}
