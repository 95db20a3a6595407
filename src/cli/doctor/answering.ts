import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { API_PREFIX } from '../../api/prefixes.ts';
import type { ListenAddress } from '../../config/config.ts';
import { codeOf } from '../../lib/error-code.ts';

const PATIENCE_MS = 3_000;

/** Asks the program behind an address. Each function rejects without an answer in its protocol within 3 s. */

/** `GET /v1/status` by HTTPS: the status, and the SHA-256 fingerprint of the certificate shown. */
export function askApi(address: ListenAddress): Promise<{ status: number; fingerprint: string }> {
  return new Promise((resolve, reject) => {
    // Nothing secret is sent, and the caller judges the certificate.
    const request = httpsRequest({
      ...target(address),
      path: `${API_PREFIX}/status`,
      servername: 'localhost',
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    let fingerprint = '';
    request.on('socket', (socket) => {
      socket.once('secureConnect', () => {
        if ('getPeerX509Certificate' in socket && typeof socket.getPeerX509Certificate === 'function') {
          fingerprint = socket.getPeerX509Certificate()?.fingerprint256 ?? '';
        }
      });
    });
    request.on('error', reject).on('response', (response) => {
      response.resume().once('close', () => resolve({ status: response.statusCode ?? 0, fingerprint }));
    });
    request.end();
  });
}

/** The answer to an unknown host name. */
export function askHttp(address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    httpRequest({
      ...target(address),
      path: '/',
      headers: { host: 'doctor.invalid' },
      agent: false,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
      .on('error', reject)
      .on('response', (response) => response.resume().once('close', () => resolve()))
      .end();
  });
}

export function askTls(address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ ...target(address), rejectUnauthorized: false, timeout: PATIENCE_MS }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => socket.destroy(new Error('it does not answer')));
    socket.once('error', reject);
  });
}

/** The identification string that an SSH server begins with (RFC 4253, section 4.2). */
export function askSsh(address: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...target(address), timeout: PATIENCE_MS });
    socket.once('data', (chunk) => {
      socket.destroy();
      if (chunk.toString('latin1').startsWith('SSH-')) resolve();
      else reject(new Error('what answers does not speak SSH'));
    });
    socket.once('timeout', () => socket.destroy(new Error('it does not answer')));
    socket.once('end', () => reject(new Error('it hangs up')));
    socket.once('error', reject);
  });
}

/** Null if a server could listen there now; else the code of the error, like EADDRINUSE. */
export function whyNotFree(address: ListenAddress): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(codeOf(error) ?? error.message));
    probe.listen(address, () => probe.close(() => resolve(null)));
  });
}

/** An address to connect to, in place of a wildcard address. */
function target({ host, port }: ListenAddress): ListenAddress {
  if (host === '0.0.0.0') return { host: '127.0.0.1', port };
  return { host: host === '::' ? '::1' : host, port };
}
