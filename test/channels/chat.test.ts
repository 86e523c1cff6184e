// What Discord and Teams show of a message: names harmless, links as buttons. presets.test.ts has what they take and refuse.
import { expect, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import type { Channel } from '../../src/channels/channel.ts';
import { discordChannel } from '../../src/channels/discord.ts';
import { teamsChannel } from '../../src/channels/teams.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { start } from '../alerts/samples.ts';
import { attacking, one, page, people } from './people.ts';

const settings = { name: 'team', url: 'http://127.0.0.1:9/hook', ...people };
const payloadOf = (channel: Channel, message: GroupMessage) => JSON.parse(channel.render(message)?.payload ?? '');

/** Everything that people read of a payload, in order. */
function wordsOf(payload: unknown): string {
  const words: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner === 'string' && ['content', 'title', 'description', 'text'].includes(key)) words.push(inner);
      else walk(inner);
    }
  };
  walk(payload);
  return words.join('\n');
}

test('Discord: names format nothing, link nowhere and ring nobody', () => {
  const payload = payloadOf(discordChannel(settings, movedClock(start)), attacking);
  expect(payload.allowed_mentions).toEqual({ parse: [] });
  expect(wordsOf(payload)).not.toMatch(/[^\\]<[@!]|[^\\]\[safe|[^\\]\*\*x|https:\/\/evil|\u202e/);
  expect(wordsOf(payload)).toContain('`warmwarden resume acme/bob@acme.example`');
});

test('Teams: links are buttons, and text is in runs, which are read as nothing else', () => {
  const { actions, body } = payloadOf(teamsChannel(settings, movedClock(start)), one).attachments[0].content;
  expect(actions).toEqual([
    { type: 'Action.OpenUrl', title: 'Open', url: `${page}/mailboxes/acme/m1` },
    { type: 'Action.OpenUrl', title: 'What to do', url: `${page}/runbooks#stale_data` },
    expect.objectContaining({ title: 'Acknowledge' }),
    expect.objectContaining({ title: 'Silence 4 h' }),
  ]);
  expect(JSON.stringify(body)).toContain('"text":"warmwarden resume acme/bob@acme.example","fontType":"monospace"');
});
