import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const HOST = '127.0.0.1';

/**
 * Below those that the kernel gives out by itself (from 32768 on): no connection and no other server takes a port between
 * looking and listening, unless another test draws the same.
 */
const LOWEST = 20_000;
const END = 32_000;

/** A TCP port of 127.0.0.1 that nobody listens on now. `alsoFree`: what else has to hold of it. */
export async function freePort(alsoFree?: (port: number) => Promise<boolean>): Promise<number> {
  for (let tried = 0; tried < 100; tried++) {
    const port = randomInt(LOWEST, END);
    if ((await isTcpFree(port)) && ((await alsoFree?.(port)) ?? true)) return port;
  }
  throw new Error('no port is free');
}

function isTcpFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, HOST, () => probe.close(() => resolve(true)));
  });
}
