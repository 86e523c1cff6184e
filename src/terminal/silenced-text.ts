// Until when messages about an alert are muted, and by whom, as the terminal's lists of alerts say it.
import { visibleText } from '../wording/visible-text.ts';
import { momentIn } from './moment.ts';

/** `until 20 March 10:02 UTC by anna`. `zone`: an IANA name. */
export function silencedText({ by, until }: { readonly by: string; readonly until: string }, zone: string): string {
  return `until ${momentIn(zone)(until)} by ${visibleText(by)}`;
}
