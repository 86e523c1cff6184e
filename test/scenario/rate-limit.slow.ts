// The daemon as a process at the rate limit of a strict API, in real time: never one request too many, and few too few.
import { expect, test } from 'vitest';
import { Stage } from '../support/guarded.ts';
import { week } from '../support/other-api.ts';
import { until } from '../support/until.ts';

const watchedMs = 75_000;

test('guards 150 mailboxes on pro: within the limit, with most of the budget used, and acts during the first sweep', async () => {
  await using stage = await Stage.open({
    key: { limit: 100 },
    account: { requests_per_minute: undefined, headroom: undefined },
    file: { poll: {} },
  });
  const [first] = Array.from({ length: 150 }, (_, index) => stage.api.add(`m${index}@a${index}.example`));
  if (!first) throw new Error('there are mailboxes');
  first.days = week(40, 4);
  stage.api.tells = () => null;
  stage.start();
  await until('the first request', () => stage.api.log.length > 0);
  const begun = stage.api.log[0]?.at ?? 0;
  await until('the action', () => stage.api.posts(first).length > 0);
  await until('time to pass', () => Date.now() - begun > watchedMs);
  expect(stage.api.log.filter(({ status }) => status === 429)).toEqual([]);
  const inTheMinute = stage.api.log.filter(({ at }) => at - begun > 10_000 && at - begun <= 70_000);
  expect(inTheMinute.length).toBeGreaterThanOrEqual(80);
});
