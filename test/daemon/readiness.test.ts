// What `/readyz` says: all that keeps the daemon from guarding, and nothing that does not.
import { expect, test } from 'vitest';
import { noAccount } from '../../src/core/alert.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { Operate } from '../../src/core/operator-command.ts';
import { readinessOf } from '../../src/daemon/readiness.ts';
import { alert } from '../web/example-fleet.ts';

const start = Date.UTC(2026, 10, 3, 9);

test('says while an account is starting why the process before ended', () => {
  const fleet = new Fleet();
  const sentence = 'Warmwarden ended on 3 November 09:00 UTC: account acme: its time loop has been stuck for a minute.';
  fleet.putAlert(
    alert({ rule: 'crashed', account: noAccount, facts: { title: '', sentences: [sentence], numbers: {} } }),
  );
  fleet.putGuarding([{ account: 'acme', startingSince: start }]);
  const operate: Operate = async () => ({ result: 'done', messages: [] });
  const reasons = ['account acme is starting (since 3 November 09:00 UTC)', sentence];
  expect(readinessOf({ fleet, operate, zone: 'UTC', now: start })).toEqual({ ready: false, reasons });
  fleet.putGuarding([{ account: 'acme', startingSince: start, hasStopped: true }]);
  const stopped = 'account acme has stopped: it is not guarded until the next restart (since 3 November 09:00 UTC)';
  expect(readinessOf({ fleet, operate, zone: 'UTC', now: start }).reasons).toEqual([stopped, sentence]);
  fleet.putGuarding([{ account: 'acme', startingSince: null }]);
  expect(readinessOf({ fleet, operate, zone: 'UTC', now: start })).toEqual({ ready: true, reasons: [] });
});
