// Who takes an account over does not take the requests of its predecessor for a stranger's: the headroom stays as it was.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestPostgres } from '../support/postgres.ts';
import { ReplicaCrew, type Slot } from '../support/replica-crew.ts';
import { until } from '../support/until.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** Requests a minute that a replica allows itself; null: the account is not its own. */
async function allowed({ url }: Slot): Promise<number | null> {
  const metrics = await (await fetch(`${await url}/metrics`)).text();
  const [, said] = /^warmwarden_api_requests_per_minute_limit\{account="a"\} (\d+)$/m.exec(metrics) ?? [];
  return said === undefined ? null : Number(said);
}

test('after SIGTERM and after kill -9 the heir leaves 3 % free, although the API counts what its predecessor sent', async () => {
  await using crew = await ReplicaCrew.start(postgres, 2, ['a'], { headroom: 'auto' });
  const api = crew.api('a');
  // The limit of the plan that is configured: what remains of it is told with each answer.
  for (const [key, grant] of api.keys) api.keys.set(key, { ...grant, limit: 1_200 });
  for (const how of ['SIGTERM', 'SIGKILL'] as const) {
    const sender = (await crew.owners()).get('account:a');
    if (!sender) throw new Error('an owner');
    const heir = crew.slots.find((slot) => slot !== sender);
    if (!heir) throw new Error('an heir');
    const before = api.reads('/v1/mailboxes').length;
    await until('some requests', () => api.reads('/v1/mailboxes').length >= before + 10);
    if (how === 'SIGKILL') await sender.daemon.killNow();
    else {
      sender.daemon.kill(how);
      await sender.daemon.ended;
    }
    await until('the heir to guard the account', async () => (await allowed(heir)) !== null);
    const from = api.reads('/v1/mailboxes').length;
    await until('its requests', () => api.reads('/v1/mailboxes').length >= from + 5);
    expect([how, await allowed(heir)]).toEqual([how, 1_164]);
    crew.restart(sender);
    await sender.url;
  }
});
