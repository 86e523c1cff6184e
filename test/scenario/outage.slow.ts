// Both receivers fail for a while, and the daemon is killed (kill -9) three times meanwhile: nothing that was to be told is
// lost, nothing that was accepted is sent again unless its answer was lost, and what resolves is told.
import { expect, it } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { type OtherMailbox, week } from '../support/other-api.ts';
import type { ReceivedMessage } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const within = 240_000;

/** What a webhook message says, alert by alert. Throws when its signature is wrong. */
function saidBy(stage: Stage, message: ReceivedMessage): readonly string[] {
  return stage.receiver
    .verified(message)
    .map(({ rule, status, mailbox }) => `${rule} ${status} ${mailbox ?? ''}`.trim());
}

it(
  'receivers that fail while the daemon is killed three times get everything once they answer, each message once and under one id',
  async () => {
    await using stage = await Stage.open();
    const { api, receiver } = stage;
    const [first, second, third] = [1, 2, 3].map((number) => api.add(`box${number}@fleet${number}.example`));
    if (!first || !second || !third) throw new Error('there are three');
    stage.start();
    const judgedTwice = (mailbox: OtherMailbox) => api.reads('/v1/stats', mailbox).length >= 3;
    await until('the fleet to be known', () => [first, second, third].every(judgedTwice));
    // A daemon that knows its fleet already: what a first sweep finds would wait for the end of the sweep.
    await stage.daemon.killNow();
    stage.start();
    receiver.answer = () => 503;
    const refused = (text: string) => receiver.notified.filter((one) => one.status === 503 && one.text.includes(text));

    first.days = week(40, 4);
    await until('the first message to be refused', () => refused(first.email).some(({ to }) => to === 'hook'));
    await stage.daemon.killNow();
    stage.start();
    second.dns = 'fail';
    await until('the second message to be refused', () => refused('dns_failing').length > 0);
    await stage.daemon.killNow();
    const before = receiver.notified.length;
    stage.start();
    third.days = week(40, 4);
    await until('what an earlier process made to be tried again', () => receiver.notified.length > before + 2);
    await until('the third message to be refused', () => refused(third.email).length > 0);
    await stage.daemon.killNow();
    stage.start();
    await until('the receivers to be tried once more', () => receiver.notified.length > before + 6);

    // The first message that is taken now is taken without an answer: only that one may come twice.
    let lost: string | null = null;
    receiver.answer = (to, text) => {
      if (to !== 'hook' || lost !== null) return 200;
      lost = text;
      return 0;
    };
    const accepted = () => receiver.notified.filter(({ to, status }) => to === 'hook' && status === 200);
    const said = () => accepted().flatMap((message) => saidBy(stage, message));
    const wanted = [`guard_acted event ${first.email}`, `guard_acted event ${third.email}`, 'dns_failing firing'];
    await until('everything to arrive', () => wanted.every((one) => said().some((text) => text.startsWith(one))));
    second.dns = 'pass';
    await until('the resolve to arrive', () => said().some((text) => text.startsWith('dns_failing resolved')));
    for (const one of [...wanted, 'dns_failing resolved']) {
      expect([one, said().filter((text) => text.startsWith(one)).length]).toEqual([one, 1]);
    }
    // Each attempt was signed, and each id has always had the same bytes.
    const hooks = receiver.notified.filter(({ to }) => to === 'hook');
    const bytes = new Map<string, Set<string>>();
    for (const message of hooks) {
      saidBy(stage, message);
      const id = message.headers['webhook-id'] ?? '';
      bytes.set(id, (bytes.get(id) ?? new Set()).add(message.text));
    }
    expect([...bytes.values()].every((texts) => texts.size === 1)).toBe(true);
    const ids = accepted().map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);
    expect(lost).not.toBeNull();
    // Slack takes at most one message a second, and comes after.
    const slack = () => receiver.slack().join('\n');
    await until('Slack to have it all', () => [first, third].every(({ email }) => slack().includes(email)));
  },
  within,
);
