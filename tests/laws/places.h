/* Places from which a core loads its lines, or takes them to store to them. */
#ifndef LAWS_PLACES_H
#define LAWS_PLACES_H

#include "core_fixture.h"

#define PLACES_LINE 64u
#define PLACES_DATA 0x10000000ull

/** Takes the cores that a fixture has to have: those of socket 0, and one of socket 1. */
void places_enter(struct core_fixture *fixture);

/** A core loads lines from PLACES_DATA on, or stores to them, eight at a time. */
void places_pass(struct core_fixture *fixture, unsigned core, unsigned lines, bool stores);

/** All that is on its way arrives. */
void places_settle(struct core_fixture *fixture);

/* Each brings lines into one place. The pages are those of the socket that touches them first. */
void places_private(struct core_fixture *fixture, unsigned lines);
void places_memory(struct core_fixture *fixture, unsigned lines);
void places_far_memory(struct core_fixture *fixture, unsigned lines);
/** Another core of the socket has them, clean, modified, or has displaced them unknown to the LLC.
 */
void places_clean_near(struct core_fixture *fixture, unsigned lines);
void places_modified_near(struct core_fixture *fixture, unsigned lines);
void places_gone_near(struct core_fixture *fixture, unsigned lines);
/** The other socket has them. */
void places_clean_far(struct core_fixture *fixture, unsigned lines);
void places_modified_far(struct core_fixture *fixture, unsigned lines);
/** The same of lines of socket 0's memory. */
void places_clean_lent(struct core_fixture *fixture, unsigned lines);
void places_modified_lent(struct core_fixture *fixture, unsigned lines);

#endif
