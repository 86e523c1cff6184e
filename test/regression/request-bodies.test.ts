// 100 MB posted to an operator's route were read to their end, and held in memory. docs/faults.md O7.
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { sha256 } from '../support/sha256.ts';
import { serve } from '../web/running-server.ts';

const auth = { tokens: [{ name: 'anna', role: 'operator' as const, sha256: sha256('secret-of-anna') }] };
const mebibyte = 1024 * 1024;

/** Posts JSON without end until it is answered or `most` bytes are out; what was answered, and how much was sent. */
function pour(url: string, most: number): Promise<{ status: number; text: string; sent: number }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer secret-of-anna', 'content-type': 'application/json' };
    let sent = 0;
    let answered = false;
    const posting = request(url, { method: 'POST', headers }, (answer) => {
      answered = true;
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, text, sent });
        posting.destroy();
      });
    });
    // It is cut off once the answer is out.
    posting.on('error', (error) => (answered ? undefined : reject(error)));
    const piece = Buffer.alloc(64 * 1024, 'x');
    const write = () => {
      if (answered || posting.destroyed) return;
      if (sent >= most) return void posting.end('"}');
      sent += piece.length;
      posting.write(piece, () => setImmediate(write));
    };
    posting.write('{"reason":"');
    write();
  });
}

test('a huge body to an operator’s route is refused after 64 KiB, in a sentence', async () => {
  await using server = await serve(new Fleet(), { auth: () => auth });
  const { status, text, sent } = await pour(`${server.url}/api/operations/pause`, 64 * mebibyte);
  expect([status, JSON.parse(text)]).toEqual([
    413,
    { error: 'too_large', message: 'The request is larger than 64 KiB.' },
  ]);
  expect(sent).toBeLessThan(32 * mebibyte);
});
