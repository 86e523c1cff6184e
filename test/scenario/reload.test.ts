// A reload in the middle of everything: a breach, an open intent, a pending alert, a receiver that fails, a broken file.
import { unlinkSync } from 'node:fs';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from './moved-daemon.ts';

/** Loses its login at 14:30. */
const samuel = 'samuel.ito@quarrystone.example';
const poll = {
  health: '0 * * * *',
  mailboxes: '*/30 * * * *',
  stats: '*/10 * * * *',
  warmup: '*/30 * * * *',
  mailbox: '*/20 * * * *',
};
const begin = () => startMovedDaemon({ scenario: stormOf(amelia, oliver, samuel), poll, second: [oliver, samuel] });
type Stage = Awaited<ReturnType<typeof begin>>;

const metrics = async (stage: Stage) => (await request(`${stage.url()}/metrics`)).body.text();
/** How often the API was asked about a mailbox since then. */
const asked = (stage: Stage, email: string, since: number) =>
  stage.simulator.requests.filter(({ at, path }) => at > since && path.includes(stage.mailbox(email).id)).length;

describe('a reload', () => {
  it('starts over the account that speaks to the API in another way, and leaves the others alone', async () => {
    await using stage = await begin();
    await stage.run(11 * minuteMs);
    const at = stage.clock.now();
    await stage.reload((config) => Object.assign(config.accounts[0] ?? {}, { headroom: '20%' }));
    await stage.run(5 * minuteMs);
    expect([asked(stage, oliver, at), asked(stage, samuel, at)]).toEqual([0, 0]);
    expect(asked(stage, amelia, at)).toBeGreaterThan(1);
  });

  it('while an action is under way and a receiver fails loses nothing and doubles nothing', async () => {
    await using stage = await begin();
    stage.receiver.answer = () => 503;
    await stage.run(minuteMs);
    await stage.until('the POST', () => stage.mailbox(amelia).action?.state === 'open', 4 * hourMs);
    const said = await stage.reload((config) => {
      Object.assign(config.accounts[0] ?? {}, { headroom: '20%' });
      config.alerts.channels.push({ name: 'ops', type: 'slack', url: stage.receiver.slackUrl });
    });
    expect(said.result).toBe('done');
    expect(said.messages[0]).toBe(`Reloaded: ${stage.file} is in force.`);
    expect(said.messages).toContain('accounts[agency].headroom: auto -> 20%');
    expect(said.messages).toContain('account agency restarts its polling');
    expect(stage.mailbox(amelia).action?.state).toBe('confirmed');
    await stage.run(2 * minuteMs);
    stage.receiver.answer = () => 200;
    await stage.run(2 * hourMs);
    expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([[amelia, 'recovery']]);
    expect(stage.notified('guard_acted')).toEqual(['event']);
    expect(stage.receiver.slack().length).toBeGreaterThan(0);
    const ids = stage.receiver.notified.filter(({ to, status }) => to === 'hook' && status === 200);
    expect(new Set(ids.map(({ headers }) => headers['webhook-id'])).size).toBe(ids.length);
  });

  it('keeps what is pending, and judges the next answers by the new rules', async () => {
    await using stage = await begin();
    const pending = () =>
      [...stage.fleet().alerts()].some(({ rule, status }) => rule === 'mailbox_unwell' && status === 'pending');
    await stage.until('the first sight of the lost login', pending, 8 * hourMs);
    const modes = [stage.mailbox(amelia).verdict?.answer.limitPpm];
    const said = await stage.reload((config) => {
      config['guard'] = { limits: { recovery: '0.25%' }, min_bounces: 50 };
    });
    expect(said.messages).toContain('guard.min_bounces: 2 -> 50');
    expect(said.messages).toContain('account agency continues with new settings');
    await stage.run(20 * minuteMs);
    modes.push(stage.mailbox(amelia).verdict?.answer.limitPpm);
    expect(modes).toEqual([3_000, 2_500]);
    await stage.run(5 * minuteMs);
    expect(stage.notified('mailbox_unwell')).toEqual(['firing']);
  });

  it('of a broken file changes nothing: one alert, the metric says so, and it ends with the next good one', async () => {
    await using stage = await begin();
    stage.expectErrors('configuration refused');
    await stage.run(11 * minuteMs);
    const at = stage.clock.now();
    const half = await stage.reload('accounts:\n  - name: agency\n    base_url: "https://exam');
    expect(half.result).toBe('invalid');
    expect(half.messages.join('\n')).toMatch(/config\.yaml:3:\d+ .*\n.*stays in force/);
    const unknown = (config: { [key: string]: unknown }) => Object.assign(config, { pol: {} });
    expect((await stage.reload(unknown)).messages[0]).toContain('unknown key (did you mean poll?)');
    await stage.run(5 * minuteMs);
    expect(stage.notified('config_wrong')).toEqual(['firing']);
    expect(await metrics(stage)).toContain('warmwarden_config_last_reload_successful 0');
    expect(asked(stage, amelia, at)).toBe(0);
    expect(await stage.reload((config) => delete config['pol'])).toMatchObject({
      result: 'no_change',
      messages: [`Reloaded: ${stage.file} is in force already, so nothing changes.`],
    });
    await stage.run(5 * minuteMs);
    expect(stage.notified('config_wrong')).toEqual(['firing', 'resolved']);
    expect(await metrics(stage)).toContain('warmwarden_config_last_reload_successful 1');
  });

  it('of a file that is gone, or with a variable that is not set, leaves the old one in force', async () => {
    await using stage = await begin();
    stage.expectErrors('configuration refused');
    await stage.run(10 * minuteMs);
    const unset = await stage.reload((config) => Object.assign(config.accounts[0] ?? {}, { api_key: `\${NO_SUCH}` }));
    expect(unset.messages[0]).toContain('the environment variable NO_SUCH is not set');
    unlinkSync(stage.file);
    expect((await stage.ask({})).messages[0]).toContain("the file can't be read: it does not exist");
    expect(stage.fleet().mailboxCount()).toBe(3);
  });

  it('that drops more than a fifth of the mailboxes wants force; an account that is gone ends its alerts', async () => {
    await using stage = await begin();
    stage.expectErrors('configuration refused');
    await stage.run(7 * hourMs);
    expect(stage.notified('mailbox_unwell')).toEqual(['firing']);
    const [, second] = stage.written().accounts;
    const without = (config: { accounts: unknown[] }) => void config.accounts.splice(1);
    const refused = await stage.reload(without);
    expect(refused.messages[0]).toContain('removes 2 of 3 guarded mailboxes');
    expect(stage.fleet().mailboxCount()).toBe(3);
    const dry = await stage.reload(without, { force: true, dryRun: true });
    expect(dry.messages.join('\n')).toMatch(/second\/samuel.* is no longer guarded/);
    expect(stage.fleet().mailboxCount()).toBe(3);
    expect((await stage.reload(without, { force: true })).result).toBe('done');
    await stage.run(10 * minuteMs);
    expect(stage.fleet().mailboxCount()).toBe(1);
    expect(await metrics(stage)).not.toMatch(/_(up|mailbox_info|alerts_firing)\{[^}]*account="second"/);
    expect(stage.notified('mailbox_unwell')).toEqual(['firing', 'resolved']);
    await stage.reload((config) => void config.accounts.push(second ?? {}));
    await stage.run(10 * minuteMs);
    expect(stage.fleet().mailboxCount()).toBe(3);
    expect(stage.mailbox(oliver).memory?.answersJudged).toBeGreaterThan(10);
  });

  it('says in a dry run whose verdict would turn, and what needs a restart', async () => {
    await using stage = await begin();
    await stage.run(minuteMs);
    await stage.until('the POST', () => stage.mailbox(amelia).action?.state === 'open', 4 * hourMs);
    const dry = await stage.reload(
      (config) => {
        config['guard'] = { min_bounces: 50 };
        config['server'] = { listen: '127.0.0.1:9' };
      },
      { dryRun: true },
    );
    expect(dry.messages).toContain('server.listen: 127.0.0.1:0 -> 127.0.0.1:9 (needs a restart)');
    expect(dry.messages.join('\n')).toMatch(
      /amelia\.ward.* judged differently.*: recovery \(bounce rate over limit\) -> no action/,
    );
    expect(stage.fleet().mailboxCount()).toBe(3);
  });
});
