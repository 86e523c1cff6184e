// `breaker apply` carries out what the operator agreed to, or nothing; `breaker discard` drops it: the whole daemon, with
// its own store.
import { expect, test } from 'vitest';
import { askDaemon } from '../../src/cli/daemon.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { poll, settled } from '../scenario/three-domains.ts';
import { until } from '../support/until.ts';

const scenario = {
  name: 'jump',
  summary: 'Ten mailboxes of three domains bounce at once.',
  fleet: Array.from({ length: 10 }, (_, number) => settled(number)),
  incidents: [{ kind: 'bounce', mailbox: '*', rate: 0.75, from: 0.5 * hourMs, until: 1.5 * hourMs } as const],
};

/** A store whose audit log takes a command only when it is let: other transactions come before it, as on a slow disk. */
function slowAudit() {
  let waiting: (() => void) | null = null;
  const state = { slow: false };
  const openStore: typeof Store.open = async (path, now, options) => {
    const store = await Store.open(path, now, options);
    const begin = store.audit.beginCommand.bind(store.audit);
    store.audit.beginCommand = async (command) => {
      if (state.slow) await new Promise<void>((resolve) => (waiting = resolve));
      return begin(command);
    };
    return store;
  };
  return { state, openStore, isWaiting: () => waiting !== null, go: () => waiting?.() };
}

test('a mailbox that is held by the time of its turn ends an apply that was agreed to before', async () => {
  const audit = slowAudit();
  await using stage = await startMovedDaemon({ scenario, poll, openStore: audit.openStore });
  await stage.until('the trip', () => stage.breaker().openSince !== null, 4 * hourMs);
  const held = () => stage.breaker().entries.filter((entry) => entry.held).length;
  const store = stage.storePath;
  const ask = (agreed: { readonly dry_run: true } | { readonly plan: string }) => {
    const asked = { dry_run: false, plan: null, ...agreed };
    return askDaemon(store, 'breaker-apply', { by: 'ann', reason: 'the bounces are real', ...asked });
  };
  const agreed = await ask({ dry_run: true });
  const [heldThen, posts] = [held(), stage.posts.length];

  audit.state.slow = true;
  const applying = ask({ plan: agreed.plan ?? '' });
  await until('the apply to begin', audit.isWaiting);
  await stage.until('another hold', () => held() > heldThen, hourMs);
  const heldNow = held();
  audit.go();
  const refused = await applying;
  expect(refused).toMatchObject({
    result: 'failed',
    messages: [expect.stringContaining('now holds other actions')],
  });
  await stage.run(minuteMs);
  expect([stage.breaker().openSince === null, held() >= heldNow]).toEqual([false, true]);
  expect(stage.posts.length).toBe(posts);

  // With a plan of what is held by then, it is done: all of it, and nothing else.
  audit.state.slow = false;
  await stage.run(20 * minuteMs);
  const again = await ask({ dry_run: true });
  const all = held();
  expect(again.counts).toEqual({ mailboxes: all });
  expect((await ask({ plan: again.plan ?? '' })).result).toBe('done');
  await stage.run(20 * minuteMs);
  expect(stage.posts.length - posts).toBe(all);
});

test('a discard drops what is held: nothing is done there until a mailbox bounces again', async () => {
  const bounces = { kind: 'bounce', mailbox: '*', rate: 0.75 } as const;
  const first = { ...bounces, from: 0.5 * hourMs, until: 1.25 * hourMs };
  const twice = { ...scenario, incidents: [first, { ...bounces, from: 4.5 * hourMs, until: 7 * hourMs }] };
  await using stage = await startMovedDaemon({ scenario: twice, poll });
  await stage.until('the trip', () => stage.breaker().openSince !== null, 4 * hourMs);
  const ask = (dry_run: boolean) =>
    askDaemon(stage.storePath, 'breaker-discard', { by: 'ann', reason: 'counted twice', dry_run });
  // All bounces of the first incident are read by then.
  await stage.run(45 * minuteMs);
  const held = stage.breaker().entries.filter((entry) => entry.held);
  const sent = () => stage.simulator.requests.filter(({ method }) => method === 'POST').length;
  const posts = sent();
  expect((await ask(true)).counts).toEqual({ mailboxes: held.length });
  expect(await ask(false)).toMatchObject({ result: 'done', messages: [expect.stringContaining('Dropped')] });
  expect([stage.breaker().openSince, stage.alerts('guard_held')]).toEqual([null, []]);
  expect(await ask(false)).toMatchObject({ result: 'no_change' });
  await stage.run(2 * hourMs);
  expect(sent()).toBe(posts);
  await stage.until('an action on a mailbox that bounces again', () => sent() > posts, 6 * hourMs);
});
