/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A node in C: an access list of up to 16 rules over IPv4 packets. The options in the graph's file
 * are the rules, one per line; the first one that fits a packet holds, and a packet that none fits
 * goes on:
 *
 *   permit|deny SOURCE/BITS DESTINATION/BITS
 *
 *   cc -O2 -shared -fPIC -I path/to/include acl_node.c -o acl_node.so
 *   stopwatt run dataplane --graph acl_node.toml --nodes acl_node.so
 */
#include "stopwatt_node.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES 16
#define NO_RULE 0xff

enum { PERMIT };                  /* the arc */
enum { DENIED, SHORT };           /* the reasons */
enum { PERMITTED, WITHOUT_RULE }; /* the counters */

struct rule {
    uint32_t source, source_mask, destination, destination_mask;
    uint32_t denies;
};

struct acl {
    uint32_t rules;
    struct rule rule[RULES];
};

/* What goes with a packet: the rule that fitted it, for the trace and for nodes behind this one. */
struct verdict {
    uint8_t rule;
};

static uint32_t mask(unsigned bits)
{
    return bits ? 0xffffffffu << (32 - bits) : 0;
}

static int rule_of(const char *line, struct rule *rule)
{
    unsigned s[5], d[5];
    char verdict[8];
    if (sscanf(line, "%7s %u.%u.%u.%u/%u %u.%u.%u.%u/%u", verdict, &s[0], &s[1], &s[2], &s[3],
               &s[4], &d[0], &d[1], &d[2], &d[3], &d[4]) != 11)
        return 0;
    for (int i = 0; i < 4; i++)
        if (s[i] > 255 || d[i] > 255)
            return 0;
    if (s[4] > 32 || d[4] > 32 || (strcmp(verdict, "deny") && strcmp(verdict, "permit")))
        return 0;
    rule->source_mask = mask(s[4]);
    rule->destination_mask = mask(d[4]);
    rule->source = (s[0] << 24 | s[1] << 16 | s[2] << 8 | s[3]) & rule->source_mask;
    rule->destination = (d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3]) & rule->destination_mask;
    rule->denies = !strcmp(verdict, "deny");
    return 1;
}

static void *set_up(const char *options, char *why, uint64_t room)
{
    struct acl *acl = calloc(1, sizeof *acl);
    if (!acl) {
        snprintf(why, room, "no memory");
        return NULL;
    }
    for (const char *line = options; *line;) {
        size_t length = strcspn(line, "\n");
        char text[80];
        snprintf(text, sizeof text, "%.*s", (int)length, line);
        if (strspn(text, " \t") != strlen(text)) {
            if (acl->rules == RULES || !rule_of(text, &acl->rule[acl->rules])) {
                snprintf(why, room, "`%s` is none of up to %d rules: deny 10.0.0.0/8 0.0.0.0/0",
                         text, RULES);
                free(acl);
                return NULL;
            }
            acl->rules++;
        }
        line += length + (line[length] == '\n');
    }
    return acl;
}

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int fits(const struct rule *rule, uint32_t source, uint32_t destination)
{
    return !((source ^ rule->source) & rule->source_mask) &&
           !((destination ^ rule->destination) & rule->destination_mask);
}

static void run(void *state, struct stopwatt_packet *packets, uint64_t n, uint64_t *counters)
{
    const struct acl *acl = state;
    uint64_t permitted = 0, without_rule = 0;
    for (uint64_t i = 0; i < n; i++) {
        struct stopwatt_packet *packet = &packets[i];
        struct verdict *verdict = packet->private_data;
        verdict->rule = NO_RULE;
        if (packet->length < 34) {
            packet->next = STOPWATT_DROP(SHORT);
            continue;
        }
        uint32_t source = word(packet->data + 26), destination = word(packet->data + 30);
        uint32_t r = 0;
        while (r < acl->rules && !fits(&acl->rule[r], source, destination))
            r++;
        if (r < acl->rules)
            verdict->rule = r;
        else
            without_rule++;
        if (r < acl->rules && acl->rule[r].denies) {
            packet->next = STOPWATT_DROP(DENIED);
        } else {
            packet->next = PERMIT;
            permitted++;
        }
    }
    counters[PERMITTED] += permitted;
    counters[WITHOUT_RULE] += without_rule;
}

static void trace(const void *state, const struct stopwatt_packet *packet, char *text,
                  uint64_t room)
{
    const struct verdict *verdict = packet->private_data;
    (void)state;
    if (verdict->rule == NO_RULE)
        snprintf(text, room, "no rule fits");
    else
        snprintf(text, room, "rule %u fits", verdict->rule + 1u);
}

const struct stopwatt_node *stopwatt_node(uint32_t n)
{
    static const char *const arc[] = { "permit" };
    static const struct stopwatt_reason reason[] = {
        { "denied by a rule", STOPWATT_INFO },
        { "too short for an IPv4 header", STOPWATT_ERROR },
    };
    static const char *const counter[] = { "permitted", "without a rule" };
    static const struct stopwatt_node acl = {
        STOPWATT_NODE_ABI, 1, 2, 2, "acl", arc, reason, counter,
        "acl verdict", sizeof(struct verdict), 0,
        set_up, run, trace, free,
    };
    return n == 0 ? &acl : NULL;
}
