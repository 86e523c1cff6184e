// How far our clock is ahead, as the mailbox APIs tell it: history that a wrong clock deletes does not come back.
import type { AccountState } from '../model/mailbox.ts';

/**
 * The least by which our clock is ahead of an API's, milliseconds; 0 when it is not, or none tells the time. null: no account
 * was reached yet, as with a clock by which all certificates have expired.
 */
export function clockAheadMs(accounts: Iterable<Pick<AccountState, 'apiHealth' | 'lastSuccessAt'>>): number | null {
  const all = [...accounts];
  if (all.length > 0 && all.every(({ lastSuccessAt }) => lastSuccessAt === null)) return null;
  const ahead = all.map(({ apiHealth }) => apiHealth.clockAheadMs).filter((ms) => typeof ms === 'number');
  return ahead.length === 0 ? 0 : Math.max(0, Math.min(...ahead));
}
