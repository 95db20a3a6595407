import { connect, type Socket } from 'node:net';
import { SERVICE_DONE, SERVICE_REFUSED, type ServiceRequest } from '../process-protocol.ts';

/** Asks the platform for something that a website may not do itself. Resolves to the connection after the platform agreed. */
export function askService(path: string, request: ServiceRequest, body?: Buffer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    let answer = '';
    const onData = (chunk: Buffer): void => {
      answer += chunk.toString('latin1', 0, SERVICE_DONE.length - answer.length);
      if (answer.length < SERVICE_DONE.length) return;
      socket.off('data', onData);
      socket.off('error', reject);
      socket.off('close', onClose);
      if (answer === SERVICE_REFUSED || answer !== SERVICE_DONE) {
        socket.destroy();
        reject(new Error('refused'));
        return;
      }
      const rest = chunk.subarray(SERVICE_DONE.length);
      socket.pause();
      if (rest.length > 0) socket.unshift(rest);
      resolve(socket);
    };
    const onClose = (): void => reject(new Error('closed'));
    socket.on('data', onData);
    socket.on('error', reject);
    socket.on('close', onClose);
    socket.write(`${JSON.stringify(request)}\n`);
    if (body !== undefined) socket.end(body);
  });
}
