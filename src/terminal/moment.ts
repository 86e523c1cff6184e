// Moments of an answer for the person at the terminal: in the zone in which its sentences give times, too.
import { momentText } from '../wording/phrases.ts';

/** `2026-03-20T10:02:00.000Z` as `20 March 11:02 Europe/Berlin`. `zone`: an IANA name. */
export function momentIn(zone: string): (at: string) => string {
  return (at) => momentText(Date.parse(at), zone);
}
