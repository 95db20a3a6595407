import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import type { Logger } from 'pino';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { parseUuid } from '../../../lib/ids.ts';
import type { UsageLine } from './usage-lines.ts';

/**
 * The requests of each install, one line of JSON each, in `<folder>/<install>.log`, readable by root only. A full log replaces
 * the previous one, `<install>.log.1`, so that an install has at most twice the limit.
 */
export interface AccessLogs {
  /** Appends requests. Never rejects: a log that cannot be written is reported, and its lines are lost. */
  append(lines: UsageLine[]): Promise<void>;
  /** Deletes the logs of an install. Its requests are no longer logged. */
  remove(installId: string): Promise<void>;
  /** Logs the requests of an install again that was removed. */
  resume(installId: string): void;
}

const MOST_BYTES = 8 * 1024 * 1024;
const WRITTEN_AT_ONCE = 8;
const OWNER_ONLY = 0o600;
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

export function createAccessLogs({
  folder,
  log,
  mostBytes = MOST_BYTES,
}: {
  folder: string;
  log: Logger;
  /** Of one file. */
  mostBytes?: number;
}): AccessLogs {
  /** Lines of these installs may still be in nginx's log. */
  const removed = new Set<string>();
  let isFailing = false;

  const fileOf = (installId: string) => join(folder, `${installId}.log`);

  async function write(installId: string, text: string): Promise<void> {
    const path = fileOf(installId);
    const file = await open(path, FLAGS, OWNER_ONLY);
    let size: number;
    try {
      await file.appendFile(text);
      ({ size } = await file.stat());
    } finally {
      await file.close();
    }
    if (size >= mostBytes) await rename(path, `${path}.1`);
  }

  return {
    async append(lines) {
      const wanted = lines.filter(({ installId }) => parseUuid(installId) === installId);
      const texts = Map.groupBy(wanted, ({ installId }) => installId);
      try {
        if (texts.size > 0) await mkdir(folder, { recursive: true, mode: 0o700 });
        await mapConcurrent([...texts], WRITTEN_AT_ONCE, async ([installId, own]) => {
          if (!removed.has(installId)) await write(installId, own.map(accessLine).join(''));
        });
        isFailing = false;
      } catch (err) {
        if (!isFailing) log.error({ err }, 'could not write the access logs');
        isFailing = true;
      }
    },
    async remove(installId) {
      removed.add(installId);
      for (const path of [fileOf(installId), `${fileOf(installId)}.1`]) await rm(path, { force: true });
    },
    resume(installId) {
      removed.delete(installId);
    },
  };
}

/** The line of an access log. It has no query and no whole address, so that it may be kept and shown. */
export function accessLine(line: UsageLine): string {
  return `${JSON.stringify({
    time: new Date(line.atMs).toISOString(),
    address: shortened(line.address),
    method: line.method,
    scheme: line.scheme,
    host: line.host,
    path: line.path,
    status: line.status,
    bytes: line.bytes,
    cache: line.cache === '' ? null : line.cache,
    seconds: line.seconds,
    upstream_seconds: line.upstreamSeconds,
    user_agent: line.userAgent,
    referrer: line.referrer,
  })}\n`;
}

/** Bits of an address that stay, as Matomo and others shorten addresses by default: a network, but no household. */
const KEPT_BITS = { ipv4: 24, ipv6: 48 };

/** The address without its last part; `unknown` if it is not an address. */
function shortened(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  const kind = parsed.kind();
  const bytes = parsed.toByteArray().map((byte, index) => (index * 8 < KEPT_BITS[kind] ? byte : 0));
  return ipaddr.fromByteArray(bytes).toString();
}
