// Actions that fail: refused, not confirmed, not sent, not recorded; refused and made all the same (docs/faults.md O4); overtaken while they
// wait. The alert of the guard's own action stays until it is over, whatever people command meanwhile.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { everything } from '../../src/core/write-scope.ts';
import { amelia, type Duty, goOnDuty, jonas, oliver, rarePoll, stormOf } from '../account/duty.ts';
import type { Meddling } from '../account/go-between.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';
import { failWrites } from '../support/failing-writes.ts';

const forbidden = { status: 403, body: { error: 'the API key lacks the write permission' } };
const refused = { status: 422, body: { error: 'no' } };
const oops = { status: 500, body: 'no' };
const by = { name: 'root', reason: 'to see it' };
const pause = { kind: 'pause', targetMode: null } as const;
/** The breach is there when the watch begins, so it is acted upon within minutes. */
const breached = { poll: rarePoll, afterMs: 3 * hourMs };

const toPosts = (answer: Meddling) => (request: { readonly method: string }) =>
  request.method === 'POST' ? answer : ('pass' as const);
const toLooks = (answer: Meddling) => (request: { readonly path: string }) =>
  request.path.startsWith('/v1/warmup') ? answer : ('pass' as const);
const pass = () => 'pass' as const;

/** A person's change, through to its outcome, while the clock goes on. */
async function change(duty: Duty, what: Pick<Action, 'kind' | 'targetMode'>, email = amelia): Promise<Action | string> {
  const mailbox = duty.mailbox(email);
  if (!mailbox) throw new Error('no mailbox');
  let ended: Action | string | null = null;
  const carried = duty.watch().carryOut(mailbox, { ...what, by });
  void carried.then((outcome) => {
    ended = outcome;
  });
  await duty.until(() => ended !== null, 10 * minuteMs);
  return carried;
}

const failing = (duty: Duty) => duty.alert('guard_action_failed')?.status;
/** Facts of the messages that end its alert, in this shift. */
const ends = async (duty: Duty) =>
  (await duty.store().outbox.unnotifiedTransitions(100)).flatMap(({ transition: { kind, alert } }) =>
    kind === 'resolved' && alert.rule === 'guard_action_failed' ? [alert.facts] : [],
  );
const resolved = async (duty: Duty) =>
  (await duty.notified()).filter((one) => /^resolved (guard_action|bounce)/.test(one));
const judged = (duty: Duty) => duty.until(() => duty.mailbox()?.warmup !== null && duty.reason() !== undefined);

async function failed(answer: typeof forbidden) {
  const duty = await goOnDuty(breached);
  duty.meddleWithPosts(() => answer);
  await duty.until(() => duty.action()?.state === 'refused');
  await duty.run(5 * minuteMs);
  return duty;
}

test.each([
  { name: 'is refused because the key may not write', own: forbidden, meddle: toPosts(forbidden), state: 'refused' },
  { name: 'cannot be sent', own: refused, meddle: toLooks(oops), state: 'dropped' },
])('a command that $name ends nothing of the guard’s own: its action is tried again when it was due', async (row) => {
  await using duty = await failed(row.own);
  const kept = { kind: 'recovery', by: null, state: 'refused', attempts: 1, nextTryAt: duty.action()?.nextTryAt };
  duty.between.meddle = row.meddle;
  expect(await change(duty, pause)).toMatchObject({ state: row.state, by });
  expect([duty.action(), failing(duty)]).toMatchObject([kept, 'firing']);
  await duty.restart();
  await duty.run(10 * minuteMs);
  expect([duty.action(), failing(duty), await resolved(duty)]).toMatchObject([kept, 'firing', []]);
  duty.between.meddle = pass;
  await duty.until(() => duty.action()?.state === 'confirmed', hourMs);
  expect(duty.action()).toMatchObject({ kind: 'recovery', by: null, attempts: 2 });
  expect(await ends(duty)).toMatchObject([{ title: `${amelia}: switched to recovery mode after all` }]);
});

test('a command that is carried out ends the alert and says what was changed', async () => {
  await using duty = await failed(refused);
  duty.between.meddle = pass;
  expect(await change(duty, pause)).toMatchObject({ state: 'confirmed', by });
  const sentences = [expect.stringMatching(/^Paused by root at .* confirmed/)];
  expect(await ends(duty)).toMatchObject([{ title: `${amelia}: no action is needed now`, sentences }]);
  await duty.run(2 * hourMs);
  expect(duty.posts()).toHaveLength(2);
});

test('an action that cannot be sent fires an alert after five minutes, which ends when it is confirmed', async () => {
  await using duty = await goOnDuty();
  await judged(duty);
  duty.between.meddle = toLooks(oops);
  await duty.until(() => duty.action()?.state === 'planned');
  await duty.run(4 * minuteMs);
  expect(failing(duty)).toBeUndefined();
  await duty.run(2 * minuteMs);
  const { status, severity, facts } = duty.alert('guard_action_failed') ?? {};
  expect([status, severity]).toEqual(['firing', 'critical']);
  expect(facts?.sentences.join(' ')).toMatch(/NO ACTION TAKEN: .* not been able to send the switch .* since .* UTC\./);
  expect(duty.posts()).toEqual([]);
  duty.between.meddle = pass;
  await duty.until(() => duty.action()?.state === 'confirmed');
  // Beside it, not_guarded and stale_data tell that no warm-up is given.
  const told = (await duty.notified()).filter((one) => !/not_guarded|stale_data/.test(one));
  expect(told).toEqual(['firing guard_action_failed', 'event guard_acted confirmed', 'resolved guard_action_failed']);
  expect(duty.posts()).toHaveLength(1);
});

test('an action whose step the store refused goes on within seconds after the store works again, and is sent once', async () => {
  await using duty = await goOnDuty();
  await judged(duty);
  let isFull = false;
  using writes = failWrites(() => isFull);
  duty.between.meddle = ({ path }) => {
    isFull ||= path.startsWith('/v1/warmup') && duty.action()?.state === 'planned';
    return 'pass';
  };
  await duty.until(() => writes.failed > 0);
  await duty.run(5 * secondMs);
  expect([duty.action()?.state, duty.posts()]).toEqual(['planned', []]);
  duty.between.meddle = pass;
  isFull = false;
  await duty.store().proveWritable(duty.clock.now());
  await duty.until(() => duty.action()?.state === 'confirmed', 20 * secondMs);
  expect(duty.posts()).toHaveLength(1);
});

test('a store that fails for a moment: an answer that could not be recorded is asked for again at once', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
  const db = new DatabaseSync(join(duty.folder(), 'warmwarden.db'));
  const answers = "WHEN NEW.route IN ('stats', 'warmup')";
  db.exec(`CREATE TRIGGER full BEFORE INSERT ON observations ${answers} BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
  await duty.until(() => duty.asked('/v1/warmup') >= 1 && duty.asked('/v1/stats') >= 1, 5 * minuteMs);
  await duty.run(5 * secondMs);
  // The first judgement has to be stored before it counts.
  expect([duty.mailbox(amelia)?.verdict, duty.mailbox(oliver)?.verdict]).toEqual([null, null]);
  db.exec('DROP TRIGGER full');
  db.close();
  await duty.run(2 * minuteMs);
  const { mailboxes } = await duty.store().loadPicture();
  expect(mailboxes.map(({ warmup, stats, verdict }) => [warmup, stats, verdict].includes(null))).toEqual([
    false,
    false,
  ]);
});

test('one mailbox that is refused with 401 is one line of a refused key, and hides no key that is refused later', async () => {
  const poll = { stats: '*/5 * * * *', mailboxes: '* * * * *' };
  const said = 'the API refuses the key';
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, jonas), poll, expectErrors: [said] });
  const { simulator } = stage;
  const refuse = async (mailbox?: string) => {
    simulator.faults.clear();
    await stage.run(hourMs);
    simulator.faults.add({ fault: 'unauthorized', ...(mailbox !== undefined && { mailbox }) });
    await stage.run(mailbox === undefined ? 5 * minuteMs : hourMs);
  };
  await refuse(jonas);
  expect(stage.errorsSaying(said)).toHaveLength(1);
  expect(stage.clock.now() - (stage.mailbox(amelia).stats?.at ?? 0)).toBeLessThan(6 * minuteMs);
  expect(stage.notified('not_guarded', 'key rejected')).toEqual([]);
  // It counts again once it was answered.
  await refuse(jonas);
  expect(stage.errorsSaying(said)).toHaveLength(2);
  await refuse();
  const from = stage.clock.now();
  await stage.run(20 * minuteMs);
  const since = simulator.requests.filter(({ at, path }) => at > from && !/health|mailboxes$/.test(path));
  expect([since, stage.errorsSaying(said).length, stage.notified('not_guarded', 'key rejected')]).toEqual([
    [],
    3,
    ['firing'],
  ]);
});

const isPost = ({ method }: { readonly method: string }) => method === 'POST';
const isLook = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === 'GET' && path.startsWith('/v1/warmup');

const error = (status: number) => ({ status, body: { error: 'no' } });
const throttled = (seconds: number) => ({ ...error(429), headers: { 'retry-after': String(seconds) } });
const applied = true as const;
/** What becomes of the first POST; all later ones pass. */
function firstPost(duty: Duty, fate: Meddling): void {
  const fates = [fate];
  duty.meddleWithPosts(() => fates.pop() ?? 'pass');
}

const settled = (duty: Duty) => duty.until(() => duty.action()?.state === 'confirmed');

test.each([
  { name: '429 with Retry-After', answer: throttled(90) },
  { name: '429 without Retry-After', answer: error(429) },
  ...[400, 401, 403, 404, 409].map((status) => ({ name: String(status), answer: error(status) })),
  { name: '200 with an error', answer: { status: 200, body: { success: false, message: 'no' } } },
])('what is there after a refusal ($name) is confirmed, claimed and announced, with one POST', async ({ answer }) => {
  await using duty = await goOnDuty(breached);
  firstPost(duty, { ...answer, applied });
  await settled(duty);
  await duty.run(40 * minuteMs);
  expect([duty.posts().length, duty.action()?.attempts]).toEqual([1, 1]);
  expect(duty.mailbox()?.memory?.claim).toMatchObject({ kind: 'recovery', actionId: duty.action()?.id });
  expect(duty.mailbox()?.changes).toEqual([]);
  expect(await duty.notified()).toEqual(['event guard_acted confirmed']);
  expect(duty.account()).toMatchObject({ keyWrites: true, keyRejected: false });
});

test('until the look has answered it is unconfirmed, not refused, and looked for before a second POST', async () => {
  await using duty = await goOnDuty(breached);
  let blindUntil = Number.POSITIVE_INFINITY;
  duty.between.meddle = (request) => {
    if (isPost(request)) {
      blindUntil = duty.clock.now() + 40 * secondMs;
      return { ...error(403), applied };
    }
    const isHidden = isLook(request) && duty.posts().length > 0 && duty.clock.now() < blindUntil;
    return isHidden ? error(500) : 'pass';
  };
  await duty.until(() => duty.action()?.state === 'unconfirmed');
  expect(duty.account()?.keyWrites).toBeNull();
  await settled(duty);
  expect([duty.posts().length, duty.mailbox()?.memory?.claim?.kind]).toEqual([1, 'recovery']);
});

/** The next request of the kind waits: `before` it is sent, or with its answer `after`. The clock goes on meanwhile. */
function hold(duty: Duty, kind: 'warmup' | 'write', when: 'before' | 'after') {
  const api = duty.api() as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const ask = (api[kind] as (...args: unknown[]) => Promise<unknown>).bind(api);
  const held = Promise.withResolvers<void>();
  const state = { asked: false, open: held.resolve };
  api[kind] = async (...args) => {
    api[kind] = ask;
    state.asked = true;
    if (when === 'before') await held.promise;
    const answer = await ask(...args);
    if (when === 'after') await held.promise;
    return answer;
  };
  return state;
}

const known = (duty: Duty, email = amelia) => {
  const mailbox = duty.mailbox(email);
  if (!mailbox) throw new Error(`there is no ${email}`);
  return mailbox;
};

test('a warm-up answer from before our write that had its turn after it is no reversal', async () => {
  await using duty = await goOnDuty({ ...breached, poll: { ...rarePoll, mailboxes: '* * * * *' } });
  const post = hold(duty, 'write', 'before');
  await duty.until(() => post.asked);
  const poll = hold(duty, 'warmup', 'after');
  duty.watch().refresh(known(duty).id);
  await duty.until(() => poll.asked, minuteMs);
  await duty.run(secondMs);
  const turn = Promise.withResolvers<void>();
  void duty.turns().take(() => turn.promise);
  const looks = duty.asked('/v1/warmup');
  post.open();
  await duty.until(() => duty.asked('/v1/warmup') > looks, minuteMs);
  await duty.run(0);
  poll.open();
  await duty.run(0);
  turn.resolve();
  await duty.run(10 * minuteMs);
  expect(duty.mailbox()?.memory).toMatchObject({ mode: 'recovery', reversals: [], claim: { kind: 'recovery' } });
  expect([duty.mailbox()?.changes, duty.posts().length]).toEqual([[], 1]);
});

test('an action that waits for its turn in the budget is not sent when the write stop comes first', async () => {
  await using duty = await goOnDuty({ ...breached, poll: { ...rarePoll, mailboxes: '* * * * *' } });
  await duty.until(() => duty.action()?.state === 'planned');
  const look = hold(duty, 'warmup', 'after');
  await duty.until(() => look.asked, minuteMs);
  look.open();
  await duty.run(0);
  expect([duty.posts(), duty.action()?.state]).toEqual([[], 'planned']);
  const stop = { scope: everything, since: duty.clock.now(), until: null, by: 'a test', reason: 'stop' };
  duty.fleet().putWritesOff(stop);
  await duty.run(hourMs);
  expect([duty.posts(), duty.action()?.state, duty.action()?.attempts]).toEqual([[], 'dropped', 0]);
});
