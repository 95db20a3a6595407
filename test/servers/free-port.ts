import { createServer } from 'node:net';
import { drawOwn } from './draw-own.ts';

const HOST = '127.0.0.1';

/**
 * Below the kernel's ephemeral ports (from 32768), so that no connection or other server takes a port between check and listening.
 */
const LOWEST = 20_000;
const END = 32_000;

/** Ports recently returned by this process, so that two calls before listening return different ports. */
const lately: number[] = [];
const REMEMBERED = 100;

/** A free TCP port of 127.0.0.1. `alsoFree`: an additional condition. */
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
