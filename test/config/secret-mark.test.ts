// A secret is marked at the schema: its `_file` form and its hiding follow from the mark.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.ts';
import { secret, secretKeys, section } from '../../src/world/schema/section.ts';

test('the keys of secrets are those that the schema marks', () => {
  expect(loadConfig('/no/such/file', {}).ok).toBe(false);
  expect([...secretKeys].toSorted()).toEqual(
    ['api_key', 'ca', 'cert', 'key', 'password', 'proxy', 'routing_key', 'secret', 'sha256', 'url'].toSorted(),
  );
});

test('a secret of a new channel is hidden and may be in a file, without another word', () => {
  const bot = section({ botToken: secret(z.string().describe('The token of the bot.')) });
  expect(secretKeys).toContain('bot_token');
  expect(bot.parse({ bot_token: 'abc', bot_token_file: './token' })).toEqual({ botToken: 'abc' });
  const { properties } = z.toJSONSchema(bot, { io: 'input' });
  expect(properties?.['bot_token']).toEqual({ description: 'The token of the bot.', type: 'string', writeOnly: true });
  expect(properties?.['bot_token_file']).toMatchObject({ type: 'string' });
});
