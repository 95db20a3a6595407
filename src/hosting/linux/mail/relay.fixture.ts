import { once } from 'node:events';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMessage {
  from: string;
  to: string[];
  /** With line ends as received. */
  text: string;
}

export interface TestRelay {
  url: string;
  port: number;
  received: ReceivedMessage[];
  /** Called for each recipient and for each message; a rejection is the answer. */
  rules: {
    recipient(address: string): Error | null;
    message(message: ReceivedMessage): Error | null | Promise<Error | null>;
  };
  close(): Promise<void>;
}

/** An SMTP answer. */
export function smtpError(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}

/** A real SMTP server on 127.0.0.1. */
export async function startRelay(options: SMTPServerOptions = {}, listenPort = 0): Promise<TestRelay> {
  const received: ReceivedMessage[] = [];
  const rules: TestRelay['rules'] = { recipient: () => null, message: () => null };
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    onRcptTo: ({ address }, _session, done) => done(rules.recipient(address)),
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope;
        const message = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(parts).toString('utf8'),
        };
        const refusal = await rules.message(message);
        if (refusal === null) received.push(message);
        done(refusal);
      });
    },
    ...options,
  });
  // Clients that break a connection off.
  server.on('error', () => {});
  server.listen(listenPort, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the relay has no port');
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    port: address.port,
    received,
    rules,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
