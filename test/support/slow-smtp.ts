// A mail server on loopback that speaks SMTP line by line, and stays silent from a step on. smtp-server always greets at once.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { listen, portOf } from './loopback.ts';

type SmtpStep = 'greeting' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'end';

export interface SlowSmtp extends AsyncDisposable {
  readonly url: string;
  /** What was sent whole, with the dot at its end. */
  readonly messages: string[];
  connections: number;
}

/** `silentAt`: the step that it does not answer any more; null: it answers all of them. `how`: what it does then. */
export async function startSlowSmtp(silentAt: SmtpStep | null, how: 'waits' | 'closes' = 'waits'): Promise<SlowSmtp> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    smtp.connections += 1;
    const say = (step: SmtpStep, line: string) => {
      if (step !== silentAt) socket.write(`${line}\r\n`);
      else if (how === 'closes') socket.end();
    };
    let text = '';
    let inData = false;
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      for (let end = endOf(text, inData); end >= 0; end = endOf(text, inData)) {
        const line = text.slice(0, end);
        text = text.slice(end + (inData ? 5 : 2));
        if (inData) {
          smtp.messages.push(line);
          inData = false;
          say('end', '250 2.0.0 queued');
          continue;
        }
        const word = line.slice(0, 4).toUpperCase();
        inData = word === 'DATA';
        say(word as SmtpStep, inData ? '354 go on' : word === 'QUIT' ? '221 bye' : '250 well');
      }
    });
    say('greeting', '220 slow.example');
  });
  await listen(server);
  const smtp: SlowSmtp = {
    url: `smtp://127.0.0.1:${portOf(server)}`,
    messages: [],
    connections: 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return smtp;
}

function endOf(text: string, inData: boolean): number {
  return text.indexOf(inData ? '\r\n.\r\n' : '\r\n');
}
