import { connect } from 'node:net';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { connectableHost } from '../../../lib/connectable-host.ts';

/** A busy machine takes seconds to start the process that sends the banner. */
const ANSWER_MS = 10_000;

/** Resolves if an SSH server answers there (RFC 4253 section 4.2); rejects with the reason, one sentence. */
export async function requireSshBanner(address: ListenAddress): Promise<void> {
  const where = `${address.host}:${address.port}`;
  return new Promise((resolve, reject) => {
    const socket = connect({ ...address, host: connectableHost(address.host) });
    const fail = (reason: string) => {
      socket.destroy();
      reject(new Error(`OpenSSH does not answer on ${where}: ${reason}`));
    };
    let text = '';
    socket.setTimeout(ANSWER_MS, () => fail(`no answer within ${ANSWER_MS} ms`));
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => fail('it closed the connection'));
    socket.on('data', (part) => {
      text += part.toString('latin1');
      if (text.startsWith('SSH-2.0-')) {
        socket.removeAllListeners('close');
        socket.end();
        resolve();
      } else if (text.length > 8) fail('something else listens there');
    });
  });
}
