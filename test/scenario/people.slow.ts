// What people and machines around the daemon do to it: undo its work, remove mailboxes, give it a second account with a
// wrong key, an API behind a gateway, an impatient signal, an API that hangs.
import { describe, expect, it } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { OtherApi, type OtherMailbox, week } from '../support/other-api.ts';
import { until } from '../support/until.ts';

const burst = [{ daysAgo: 0, sent: 10, bounced: 6 }, ...week(40, 0).slice(1)];

async function moreRounds(api: OtherApi, mailbox: OtherMailbox, rounds: number): Promise<void> {
  const before = api.reads('/v1/stats', mailbox).length;
  await until('more readings', () => api.reads('/v1/stats', mailbox).length >= before + rounds);
}

function outcomes(stage: Stage, mailbox: OtherMailbox): readonly unknown[] {
  const acted = stage.receiver.alerts().filter(({ rule }) => rule === 'guard_acted');
  return acted.filter((alert) => alert.mailbox === mailbox.email).map(({ numbers }) => numbers['outcome']);
}

describe.concurrent('people around the daemon', () => {
  it('may take back what it did: the same bounces are no reason to do it again, new ones are', async () => {
    await using stage = await Stage.open();
    const switched = stage.api.add('switched@a.example', { days: week(40, 4) });
    const paused = stage.api.add('paused@a.example', { days: burst });
    const both = [switched, paused];
    stage.start();
    await until('both to be acted upon', () => both.every((one) => outcomes(stage, one).length > 0));
    switched.mode = 'balanced';
    paused.status = 'active';
    await Promise.all(both.map((one) => moreRounds(stage.api, one, 2)));
    // Also not by a process that only knows it from the store.
    await stage.daemon.killNow();
    stage.start();
    await Promise.all(both.map((one) => moreRounds(stage.api, one, 2)));
    expect(stage.api.posts()).toHaveLength(2);
    expect([switched.mode, paused.status]).toEqual(['balanced', 'active']);
    paused.days = [{ daysAgo: 0, sent: 20, bounced: 12 }, ...week(40, 0).slice(1)];
    await until('the second pause', () => outcomes(stage, paused).length > 1);
    expect(stage.api.posts(paused)).toHaveLength(2);
  });

  it('may remove a mailbox, and another’s answers can’t be read: its series go, and nobody calls the API down or up', async () => {
    await using stage = await Stage.open();
    const [staying, leaving] = [stage.api.add('staying@a.example'), stage.api.add('leaving@a.example')];
    const bad = stage.api.add('bad@a.example');
    let broken = 0;
    stage.api.fault = ({ path, mailboxId }) => {
      if (mailboxId !== bad.id || path !== '/v1/stats') return undefined;
      broken += 1;
      return { kind: 'answer', status: 200, body: '<html>no</html>' };
    };
    stage.start();
    await until('both in the metrics', async () => (await stage.metrics()).text.includes(leaving.email));
    stage.api.mailboxes.delete(leaving.id);
    await until('it to be gone', async () => !(await stage.metrics()).text.includes(leaving.email));
    const asked = () => stage.api.log.filter(({ mailboxId }) => mailboxId === leaving.id).length;
    const before = asked();
    await moreRounds(stage.api, staying, 2);
    expect(asked()).toBe(before);
    expect((await stage.metrics()).text).toContain(staying.email);
    await until('three failures', () => broken >= 3);
    expect(stage.daemon.log.filter(({ msg }) => msg.includes('answers again'))).toEqual([]);
    const errors = stage.daemon.log.filter(({ level }) => level === 'error');
    expect(errors.filter((line) => line['mailbox'] !== bad.email)).toEqual([]);
  });

  it('may give a second account a wrong key: the first is guarded all the same, behind a gateway with a path and a slash', async () => {
    await using other = await OtherApi.start();
    const wrong = { name: 'wrong', base_url: other.url, api_key: 'sk_live_unknown' };
    await using api = await OtherApi.start();
    api.prefix = '/tenants/7';
    const right = { name: 'right', base_url: `${api.url}/`, api_key: api.addKey(), requests_per_minute: 6_000 };
    await using stage = await Stage.open({ file: { accounts: [wrong, right] } });
    const breach = api.add('breach@a.example', { days: week(40, 4) });
    stage.start();
    await until('the action', () => outcomes(stage, breach).length > 0);
    await until('the refusal', () =>
      stage.daemon.log.some((line) => line['account'] === 'wrong' && line.level === 'error'),
    );
    expect(api.posts()).toHaveLength(1);
    expect(api.log.filter(({ status }) => status >= 400)).toEqual([]);
    const metrics = await stage.metrics();
    expect(metrics.value('api_up', { account: 'right' })).toBe(1);
    expect(metrics.value('api_up', { account: 'wrong' })).toBe(0);
    expect(stage.daemon.log.filter((line) => line.level === 'error' && line['account'] !== 'wrong')).toEqual([]);
  });

  it('may send a second signal, which ends it at once', async () => {
    await using stage = await Stage.open();
    // A write is given its time when the daemon stops, for its answer matters: so it would wait.
    stage.api.fault = ({ method }) => (method === 'POST' ? { kind: 'delay', ms: 30_000 } : undefined);
    stage.api.add('a@a.example', { days: burst });
    stage.start();
    await until('a write that hangs', () => stage.api.log.some(({ method }) => method === 'POST'));
    stage.daemon.kill('SIGINT');
    await stage.daemon.said('stopping');
    stage.daemon.kill('SIGINT');
    expect(await stage.daemon.ended).toEqual({ code: 1, signal: null });
    expect(stage.daemon.stderr).toBe('');
  });
});

describe.concurrent('what once was wrong', () => {
  it('ends at SIGTERM without waiting for an API that hangs', async () => {
    await using stage = await Stage.open();
    stage.api.add('a@a.example');
    stage.start();
    await until('the first readings', () => stage.api.reads('/v1/stats').length > 0);
    stage.api.fault = () => ({ kind: 'delay', ms: 30_000 });
    const asked = stage.api.log.length;
    await until('a request that hangs', () => stage.api.log.length > asked);
    stage.daemon.kill('SIGTERM');
    expect(await stage.daemon.ended).toEqual({ code: 0, signal: null });
    expect(stage.daemon.output).not.toContain('did not stop');
  });
});
