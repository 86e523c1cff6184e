// Kill -9 between any two steps: the next process finds the disk as it was, looks first, and acts once. What a process does without its
// lease, whose a change is that shows late, and what of a first look the next process goes by.
import { describe, expect, test } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { inheritedWaitMs } from '../../src/store/database.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { answerWith, OtherApi, week } from '../support/other-api.ts';
import { amelia, calmPoll, type Duty, goOnDuty, oliver, stormOf } from './duty.ts';

const isPost = ({ method }: { readonly method: string }) => method === 'POST';

/** The guard's own action, and a person's: how it comes about, and what it leaves. */
const writes = [
  {
    what: "the guard's switch",
    scenario: stormOf(amelia),
    begin: async () => {},
    memory: { mode: 'recovery', claim: { kind: 'recovery' } },
    interventions: 1,
  },
  {
    what: "a person's limit",
    scenario: { ...stormOf(amelia), incidents: [] },
    begin: async (duty: Duty) => {
      await duty.until(() => Boolean(duty.mailbox()?.verdict));
      const mailbox = duty.mailbox();
      if (!mailbox) throw new Error('nothing is guarded');
      const by = { name: 'ann', reason: 'gentler' };
      // Whoever is killed never learns how it ended.
      void duty.watch().carryOut(mailbox, { kind: 'limit', targetMode: null, targetLimit: 7, by });
    },
    memory: { mode: 'balanced', claim: null },
    interventions: 0,
  },
] as const;

describe.each(writes)('killed after a POST of $what', ({ scenario, begin, memory, interventions }) => {
  const started = async (): Promise<Duty> => {
    const duty = await goOnDuty({ poll: calmPoll, scenario });
    await begin(duty);
    return duty;
  };

  test('that was applied: the next process looks, confirms, and sends nothing', async () => {
    await using duty = await started();
    const image = await duty.untilKilled('applied-cut');
    const sent = duty.posts().length;
    duty.between.meddle = () => 'pass';
    await duty.restart({ image });
    await duty.until(() => duty.action()?.state === 'confirmed', 5 * minuteMs);
    await duty.run(hourMs);
    expect([sent, duty.posts().length, duty.action()?.attempts]).toEqual([1, 1, 1]);
    expect(duty.mailbox()).toMatchObject({ memory, changes: [] });
    expect(duty.mailbox()?.memory?.interventions).toHaveLength(interventions);
  });

  test('that was lost: the next process looks, and sends it no second time without having looked', async () => {
    await using duty = await started();
    const image = await duty.untilKilled('cut');
    // The dying process may try again while it stops; the image does not know of that.
    const sent = duty.posts().length;
    await duty.restart({ image });
    duty.between.meddle = () => 'pass';
    const restarted = duty.between.requests.length;
    const settled = () => ['confirmed', 'unconfirmed'].includes(duty.action()?.state ?? '');
    // The whole read-back deadline of 15 s, and then without a further wait.
    await duty.until(() => settled() && (interventions === 0 || duty.action()?.state === 'confirmed'), minuteMs);
    await duty.run(hourMs);
    const since = duty.between.requests.slice(restarted);
    const post = since.findIndex(isPost);
    const looks = since.slice(0, post === -1 ? since.length : post).filter(({ path }) => path.startsWith('/v1/warmup'));
    // Nothing is sent again behind a person's back: they may ask once more.
    expect([sent, duty.posts().length]).toEqual([1, 1 + interventions]);
    expect(looks.length).toBeGreaterThanOrEqual(5);
    expect(duty.mailbox()?.memory?.interventions).toHaveLength(interventions);
  });
});

test.each([0, 2])(
  'killed while an action was planned, %i hours down: it is judged again, and acted upon once',
  async (hours) => {
    await using duty = await goOnDuty({ poll: calmPoll });
    await duty.until(() => duty.action()?.state === 'planned');
    const image = duty.image();
    const planned = duty.action()?.id;
    duty.meddleWithPosts(() => 'cut');
    await duty.restart({ image, pauseMs: hours * hourMs });
    duty.between.meddle = () => 'pass';
    const before = duty.posts().length;
    await duty.until(() => duty.action()?.state === 'confirmed', hourMs);
    await duty.run(hourMs);
    expect(duty.posts().length - before).toBe(1);
    // It stays due since then, unless the circuit breaker has forgotten it.
    expect(duty.action()?.id === planned).toBe(hours === 0);
  },
);

test('what 429 keeps back is overdue in time, however often the daemon starts again', async () => {
  await using api = await OtherApi.start(['a']);
  api.boxes[0].days = week(40, 6);
  api.fault = ({ method }) => (method === 'POST' ? answerWith(429, {}, { 'retry-after': '0' }) : undefined);
  await using duty = await goOnDuty({ other: api, poll: calmPoll });
  await duty.until(() => api.posts().length > 0, hourMs);
  for (let starts = 0; starts < 4; starts += 1) {
    await duty.run(3 * minuteMs);
    await duty.restart();
  }
  expect(duty.alert('guard_action_failed')?.status).toBe('firing');
  expect(api.posts().length).toBeLessThan(25);
});

test('a planned action whose mailbox a person paused while the daemon was down is not sent', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.state === 'planned');
  const image = duty.image();
  duty.meddleWithPosts(() => 'cut');
  duty.simulator.fleet.pause(amelia);
  await duty.restart({ image, pauseMs: hourMs });
  duty.between.meddle = () => 'pass';
  const before = duty.posts().length;
  await duty.run(hourMs);
  expect([duty.posts().length - before, duty.reason()]).toEqual([0, 'already_paused']);
});

test('an account whose loops end has what waits of its answers committed before anyone takes over', async () => {
  await using duty = await goOnDuty({ poll: calmPoll, scenario: stormOf(oliver) });
  const stored = async () => (await duty.store().loadPicture()).mailboxes.find(({ email }) => email === oliver);
  await duty.until(() => duty.mailbox(oliver)?.dns !== null);
  expect(await stored()).not.toEqual(duty.mailbox(oliver));
  const ending = duty.watch().end();
  // Far less than the time that a group waits.
  await duty.clock.advance(1);
  await ending;
  expect(await stored()).toEqual(duty.mailbox(oliver));
});

test('without its lease it asks nothing, and an answer that comes then is not recorded', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => Boolean(duty.mailbox()?.stats));
  const before = duty.mailbox();
  duty.between.meddle = () => {
    duty.lease.held = false;
    return 'pass';
  };
  await duty.until(() => !duty.lease.held);
  await duty.run(secondMs);
  const asked = duty.between.requests.length;
  await duty.run(30 * minuteMs);
  expect([duty.between.requests.length, duty.mailbox() === before]).toEqual([asked, true]);
  duty.between.meddle = () => 'pass';
  duty.lease.held = true;
  await duty.until(() => duty.mailbox() !== before);
});

test('an answer that came while the account was not its own is asked for again: nothing would judge the mailbox before', async () => {
  // The warm-up is due again after hours only.
  await using duty = await goOnDuty({ poll: { ...calmPoll, warmup: '0 */6 * * *' } });
  let lapsed = 0;
  duty.between.meddle = ({ path }) => {
    if (lapsed > 0 || !path.includes('/warmup')) return 'pass';
    lapsed += 1;
    duty.lease.held = false;
    return 'pass';
  };
  await duty.until(() => lapsed > 0);
  await duty.run(10 * secondMs);
  duty.lease.held = true;
  await duty.until(() => Boolean(duty.mailbox()?.verdict), 5 * minuteMs);
  expect(duty.between.requests.filter(({ path }) => path.includes('/warmup')).length).toBeGreaterThan(1);
});

test('a POST that could outlive the lease is held back at its first byte, and goes out once it may', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  const states: string[] = [];
  duty.lease.mayPost = false;
  await duty.until(() => {
    const { state = 'none', detail = null } = duty.action() ?? {};
    if (states.at(-1) !== state) states.push(state);
    return detail?.startsWith('it was too late') === true;
  });
  expect([states.at(-1), duty.posts().length, duty.action()?.attempts]).toEqual(['planned', 0, 0]);
  duty.lease.mayPost = true;
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect([duty.posts().length, duty.action()?.attempts]).toEqual([1, 1]);
});

test('what a process that died had open is looked at once its POST can no longer be under way', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  const image = await duty.untilKilled('cut');
  const sent = duty.posts().length;
  let sentAt: number | null = null;
  duty.meddleWithPosts(() => {
    sentAt ??= duty.clock.now();
    return 'pass';
  });
  duty.lease.openWaitMs = inheritedWaitMs;
  await duty.restart({ image });
  const begunAt = duty.clock.now();
  await duty.until(() => duty.action(amelia)?.state === 'confirmed');
  expect([sent, duty.posts().length, duty.action()?.attempts]).toEqual([1, 2, 2]);
  expect((sentAt ?? 0) - begunAt).toBeGreaterThanOrEqual(inheritedWaitMs);
});

/** The mailbox in recovery, by a second POST; the first one, of a process that ended within it, has not come. */
async function takenOver(openWaitMs: number): Promise<Duty> {
  const duty = await goOnDuty({ poll: calmPoll });
  duty.lease.openWaitMs = openWaitMs;
  const image = await duty.untilKilled('cut');
  duty.between.meddle = () => 'pass';
  await duty.restart({ image });
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect(duty.action()?.attempts).toBe(2);
  return duty;
}

/** The mailbox of the duty, which has only one. */
function only(duty: Duty): MailboxState {
  const [mailbox] = duty.fleet().mailboxes();
  if (!mailbox) throw new Error('no mailbox');
  return mailbox;
}

/** The mailbox at its API, set by anybody. */
async function set(duty: Duty, warmup_mode: string): Promise<void> {
  const headers = { authorization: `Bearer ${demoKey}`, 'content-type': 'application/json' };
  const config = { warmup_mode };
  const body = JSON.stringify({ action: 'update_config', mailbox_id: only(duty).id, config });
  expect((await fetch(`${duty.simulator.url}/v1/warmup`, { method: 'POST', headers, body })).status).toBe(200);
}

const root = { name: 'root', reason: 'a test' };

type Wanted = Pick<Action, 'kind' | 'targetMode'>;
const slow: Wanted = { kind: 'mode', targetMode: 'slow' };
const aggressive: Wanted = { kind: 'mode', targetMode: 'aggressive' };

/** A person changes the mailbox through Warmwarden. */
function carryOut(duty: Duty, change: Wanted): Promise<unknown> {
  return duty.watch().carryOut(only(duty), { ...change, by: root });
}

/** The newest action that a person asked for. */
function personsAction(duty: Duty) {
  return duty
    .fleet()
    .recentActions()
    .find(({ by }) => by !== null);
}

const byOthers = (told: readonly string[]) => told.filter((one) => one.includes('changed_by_others'));

test.each([
  ['killed and started again', 0],
  ['replaced by another one', inheritedWaitMs],
])('a change that comes after its process was %s counts as somebody’s, and stays', async (_, openWaitMs) => {
  await using duty = await takenOver(openWaitMs);
  const done = carryOut(duty, slow);
  await duty.until(() => duty.action()?.by !== null && duty.action()?.state === 'confirmed');
  await done;
  const posts = duty.posts().length;
  await set(duty, 'recovery');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'recovery', hourMs);
  await duty.run(2 * hourMs);
  expect([duty.posts().length - posts, duty.mailbox()?.memory?.claim]).toEqual([0, null]);
});

test('a person’s change that shows only once an action of Warmwarden has come back in its place is theirs, and nobody else’s', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  const posts = (status: number) => duty.meddleWithPosts(() => ({ status, body: { error: 'not now' } }));
  posts(403);
  await duty.until(() => duty.action()?.state === 'refused');
  posts(500);
  const done = carryOut(duty, slow);
  await duty.until(() => personsAction(duty)?.state === 'unconfirmed');
  await done;
  expect(duty.action()).toMatchObject({ by: null, state: 'refused' });
  await set(duty, 'slow');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'slow', hourMs);
  expect([personsAction(duty)?.state, duty.mailbox()?.changes]).toEqual(['confirmed', []]);
});

const whatChanged = (duty: Duty) => duty.mailbox()?.changes.map(({ what, to }) => `${what}: ${to}`);

test('a change that failed is not taken for what others change once the guard has acted in its place', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.kind === 'recovery');
  duty.between.meddle = ({ method, body }) =>
    method === 'POST' && body.includes('aggressive') ? { status: 500, body: { error: 'not now' } } : 'pass';
  const done = carryOut(duty, aggressive);
  await duty.until(() => duty.action()?.by === null && duty.action()?.state === 'confirmed');
  await done;
  await set(duty, 'aggressive');
  duty.simulator.fleet.pause(amelia);
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'aggressive', hourMs);
  expect(personsAction(duty)?.state).toBe('unconfirmed');
  expect(whatChanged(duty)).toEqual(['mode: aggressive', 'warm-up: paused']);
  expect(byOthers(await duty.notified())).toEqual(['event changed_by_others undefined']);
});

test('what others change beside a change of Warmwarden that shows late is theirs', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  duty.meddleWithPosts(() => 'swallow');
  await duty.until(() => duty.action()?.state === 'unconfirmed');
  await set(duty, 'recovery');
  duty.simulator.fleet.pause(amelia);
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'recovery', hourMs);
  expect([duty.action()?.state, whatChanged(duty)]).toEqual(['confirmed', ['warm-up: paused']]);
  expect(byOthers(await duty.notified())).toEqual(['event changed_by_others undefined']);
});

const passing = { status: 'pass', record: 'v=spf1 -all' };
const dnsOf = (spf: unknown, measuredAt: number) => ({
  domain: 'northbeam.example',
  checked_at: new Date(measuredAt).toISOString(),
  ...{ spf, dkim: passing, dmarc: passing },
});
const troubles = [
  ['mailbox_unwell', '/v1/mailboxes/', () => ({ status: 'active', connection_error: 'IMAP login failed' })],
  ['mailbox_unwell', '/v1/mailboxes/', () => ({ status: 'molting', connection_error: null })],
  ['dns_failing', '/v1/dns', (now: number) => dnsOf({ status: 'fail', record: null }, now)],
  ['stale_data', '/v1/dns', (now: number) => dnsOf(passing, now - 50 * 60 * minuteMs)],
] as const;

test.each(troubles)('%s fires soon after a restart between its first look and its second', async (rule, path, body) => {
  await using duty = await goOnDuty({ scenario: stormOf(oliver), poll: calmPoll });
  duty.between.meddle = (request) => {
    if (!request.path.startsWith(path)) return 'pass';
    const id = /([^/=]+)$/.exec(request.path.replace(/&.*/, ''))?.[1];
    return { status: 200, body: { id, mailbox_id: id, email: oliver, ...body(duty.clock.now()) } };
  };
  await duty.until(() => duty.alert(rule)?.status === 'pending');
  await duty.restart();
  expect(duty.alert(rule)).toMatchObject({ status: 'pending', firesAt: null });
  await duty.until(() => duty.alert(rule)?.status === 'firing', 10 * minuteMs);
});
