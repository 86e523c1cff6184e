// Recorded days: what happened to which mailbox and when, a line each, for the tests of incidents.
// `09:40 recovery g1-0` the guard acted; `09:40 over g1-0 critical` an alert fires; `ends` ends what fires on a mailbox.
// Several mailboxes in a line follow one another, a minute each.

/** A provider rejects emails of 16 mailboxes on five domains, in the order of the polls; two at others bounce as usual. */
export const providerBlock = `
09:40 recovery g0-0
09:41 recovery g1-0
09:41 score g0-0
09:42 recovery g2-0
09:43 pause g3-0
09:44 recovery g4-0
09:46 recovery g0-1
09:48 recovery g1-1
09:50 recovery g2-1
09:53 recovery g3-1
09:55 recovery g4-1
09:56 score g1-1
09:58 recovery g0-2
10:00 recovery g1-2
10:01 score g2-0
10:02 pause g2-2
10:04 recovery g3-2
10:05 recovery g4-2
10:07 recovery g0-3
10:09 near g0-0
10:20 inbox g4-1
12:00 recovery m0-0 invalid
`;

/** One domain's DNS fails; its mailboxes bounce within the morning. */
export const domainDown = `
08:00 dns x.example
09:10 recovery x-0 dns
09:40 recovery x-1 dns
10:30 recovery x-2 dns
11:00 score x-0
11:10 recovery x-3 dns
16:00 dnsok x.example
`;

/** A provider's block and a domain's own trouble, in one hour, with the same words. */
export const twoCauses = `
09:40 recovery g0-0,g1-0,g2-0,g3-0,g4-0,g0-1,g1-1,g2-1
09:40 recovery m0-0,m0-1,m0-2
`;

/** A domain first, then its provider, in three waves over a day. */
export const waves = `
09:00 recovery g0-0,g0-1,g0-2
09:30 recovery g1-0,g2-0,g3-0,g4-0,g1-1,g2-1
13:00 recovery g3-1,g4-1,g1-2
17:00 recovery g2-2,g3-2
`;

/** Warmwarden may not write: nothing is acted on, and the bounces end in the evening. */
export const notActed = `
09:40 over g0-0,g1-0,g2-0,g3-0,g4-0
20:00 ends g0-0,g1-0,g2-0,g3-0,g4-0
`;
