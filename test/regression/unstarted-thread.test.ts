// The system had no thread to spare for one large answer, and no large answer was read any more until a restart.
import { expect, test } from 'vitest';
import { Apart } from '../../src/api/http/apart.ts';

const answering = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => parentPort.postMessage('done'));`;

test('a thread that can not be started fails one order with its reason, and the next order starts it', async () => {
  // Refused by the system's constructor at once, as when there are too many threads.
  const file = new URL('https://nowhere.example/thread.js');
  const apart = new Apart<string, string>(file);
  const carryOut = () => apart.carryOut('read it', Buffer.from('a large body'), () => {});
  expect(await carryOut()).toContain('file');
  file.href = `data:text/javascript,${encodeURIComponent(answering)}`;
  expect(await carryOut()).toBeNull();
});
