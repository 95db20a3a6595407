import type { ListenAddress } from '../../src/config/settings/setting-values.ts';
import { runCommand } from '../../src/lib/run-command.ts';

/** Load on one page. */
export interface Load {
  address: ListenAddress;
  hostname: string;
  /** A script of wrk, which can choose other host names. */
  script?: string;
  /** The home page if left out. */
  path?: string;
  headers?: Record<string, string>;
  connections: number;
  seconds: number;
}

export interface LoadResult {
  requests: number;
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

/** Requests a page repeatedly with wrk(1). Rejects on any response but success. */
export async function wrk({
  address,
  hostname,
  path = '/',
  headers = {},
  script,
  connections,
  seconds,
}: Load): Promise<LoadResult> {
  const { stdout } = await runCommand(
    'wrk',
    [
      '-t2',
      `-c${connections}`,
      `-d${seconds}s`,
      '--timeout',
      '20s',
      '--latency',
      ...(script === undefined ? [] : ['--script', script]),
      // wrk looks for `Host` in exactly this spelling, and adds a default otherwise.
      ...Object.entries({ Host: hostname, ...headers }).flatMap(([name, value]) => [
        '-H',
        `${name}: ${value}`,
      ]),
      `http://${address.host}:${address.port}${path}`,
    ],
    { timeoutMs: (seconds + 30) * 1000 },
  );
  const failed = /Non-2xx or 3xx responses: \d+|Socket errors: .*/.exec(stdout);
  if (failed !== null) throw new Error(`${hostname}: ${failed[0]}`);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  if (!(perSecond > 0)) throw new Error(`wrk reported no rate: ${stdout}`);
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  return { requests, perSecond, p50: percentile(stdout, 50), p99: percentile(stdout, 99) };
}

const MILLISECONDS: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };

function percentile(stdout: string, which: number): number {
  const [, value, unit = ''] = new RegExp(`^\\s+${which}%\\s+([\\d.]+)(us|ms|s)\\s`, 'm').exec(stdout) ?? [];
  return Number(value) * (MILLISECONDS[unit] ?? Number.NaN);
}
