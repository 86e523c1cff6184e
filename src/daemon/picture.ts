// The picture of the accounts in memory, loaded from the store at a start and after a reload.
import { leave } from '../alerts/engine.ts';
import type { AccountConfig } from '../config/config.ts';
import { type Alert, type AlertChanges, noAccount } from '../core/alert.ts';
import { Fleet } from '../core/fleet/fleet.ts';
import { closedBreaker } from '../core/guard/breaker.ts';
import type { EpochMs } from '../core/time.ts';
import { scopeKey } from '../core/write-scope.ts';
import type { StoredPicture } from '../store/picture.ts';

type ShownAccount = Pick<AccountConfig, 'name' | 'baseUrl'>;

/** Picture of the last process, without the accounts that are no longer configured. */
export function fleetOf(picture: StoredPicture, accounts: readonly ShownAccount[]): Fleet {
  const fleet = new Fleet();
  for (const alert of picture.alerts) if (alert.account === noAccount) fleet.putAlert(alert);
  // Breakers of former APIs are withdrawn later: see Duties.withdrawUnguarded.
  for (const { api, state } of picture.breakers) fleet.putBreaker(api, state);
  for (const silence of picture.silences) fleet.putSilence(silence);
  for (const incident of picture.incidents) fleet.putIncident(incident);
  for (const off of picture.writesOff) fleet.putWritesOff(off);
  showAccounts(fleet, picture, accounts);
  return fleet;
}

export function showAccounts(fleet: Fleet, picture: StoredPicture, accounts: readonly ShownAccount[]): void {
  const names = new Set(accounts.map((account) => account.name));
  const shown = new Map(fleet.breakers());
  const apis = new Set(accounts.map((account) => account.baseUrl).filter((api) => !shown.has(api)));
  for (const mailbox of picture.mailboxes) if (names.has(mailbox.account)) fleet.putMailbox(mailbox);
  for (const alert of picture.alerts) if (names.has(alert.account)) fleet.putAlert(alert);
  for (const api of apis) fleet.putBreaker(api, closedBreaker);
  for (const { api, state } of picture.breakers) if (apis.has(api)) fleet.putBreaker(api, state);
  for (const action of picture.actions) if (names.has(action.account)) fleet.putAction(action);
}

/** Adds the state that belongs to no single account's loop, and the actions of these accounts. */
export function showShared(fleet: Fleet, picture: StoredPicture, accounts: ReadonlySet<string>): void {
  for (const { api, state } of picture.breakers) fleet.putBreaker(api, state);
  for (const { scope } of [...fleet.knownWritesOff()]) fleet.removeWritesOff(scopeKey(scope));
  for (const off of picture.writesOff) fleet.putWritesOff(off);
  for (const action of picture.actions) if (accounts.has(action.account)) fleet.putAction(action);
}

export function notGuardedAnyMore(alerts: Iterable<Alert>, now: EpochMs): AlertChanges {
  return leave(alerts, now, 'Its account is no longer in the configuration, so Warmwarden no longer watches it.');
}
