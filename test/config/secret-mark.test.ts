// A secret is marked at the schema: its `_file` form and its hiding follow from the mark.
import { expect, test } from 'vitest';
import { z } from 'zod';
import { secretKeys } from '../../src/config/schema.ts';
import { optional, secret, secretKeysIn, section } from '../../src/config/section.ts';

test('the keys of secrets are those that the schema marks', () => {
  expect([...secretKeys].toSorted()).toEqual(
    ['api_key', 'ca', 'cert', 'key', 'password', 'proxy', 'routing_key', 'secret', 'sha256', 'url'].toSorted(),
  );
});

test('a secret of a new channel is hidden and may be in a file, without another word', () => {
  const bot = section({ ...secret('bot_token', optional(z.string(), undefined, 'The token of the bot.')) });
  expect(secretKeysIn(z.array(z.discriminatedUnion('type', [bot.extend({ type: z.literal('bot') })])))).toEqual([
    'bot_token',
  ]);
  expect(bot.parse({ bot_token_file: './token' })).toEqual({ bot_token_file: './token' });
  expect(z.toJSONSchema(bot).properties?.['bot_token']).toEqual({
    description: 'The token of the bot.',
    type: 'string',
    writeOnly: true,
  });
});
