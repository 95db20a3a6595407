import { createServer } from 'node:net';
import { drawOwn } from './draw-own.ts';

const HOST = '127.0.0.1';

/**
 * Below those that the kernel gives out by itself (from 32768 on): no connection and no other server takes a port between
 * looking and listening.
 */
const LOWEST = 20_000;
const END = 32_000;

/** What this process gave out lately: asked twice before either is listened on, it gives two. */
const lately: number[] = [];
const REMEMBERED = 100;

/** A TCP port of 127.0.0.1 that nobody listens on now. `alsoFree`: what else has to hold of it. */
export async function freePort(alsoFree?: (port: number) => Promise<boolean>): Promise<number> {
  for (let tried = 0; tried < 100; tried++) {
    const port = drawOwn(LOWEST, END);
    if (lately.includes(port)) continue;
    lately.unshift(port);
    lately.splice(REMEMBERED);
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
