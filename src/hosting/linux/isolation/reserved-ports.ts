import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';

/** First and last port. */
type PortRange = [first: number, last: number];

export interface ReserveOptions {
  log: Logger;
  /** Folder of the kernel settings; tests use their own. */
  folder?: string;
  write?: (path: string, text: string) => Promise<void>;
}

/**
 * Reserves the platform's ports, so that the kernel does not use them for outgoing connections
 * (Documentation/networking/ip-sysctl.rst). A tenant cannot bind a port, but each of its connections takes one of
 * `ip_local_port_range`, which could block a daemon. Ports outside of that range need no reservation. Logs a warning if root
 * cannot change the setting (in a container).
 */
export async function reservePorts(
  ports: readonly number[],
  { log, folder = '/proc/sys/net/ipv4', write = writeFile }: ReserveOptions,
): Promise<void> {
  const read = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim();
  const [first = 0, last = 0] = (await read('ip_local_port_range')).split(/\s+/).map(Number);
  const file = join(folder, 'ip_local_reserved_ports');
  const reserved = await read('ip_local_reserved_ports');
  const ranges = parseRanges(reserved);
  const isIn = (port: number, [from, to]: PortRange) => from <= port && port <= to;
  const open = ports.filter(
    (port) => isIn(port, [first, last]) && !ranges.some((range) => isIn(port, range)),
  );
  if (open.length === 0) return;
  try {
    await write(file, [...(reserved === '' ? [] : [reserved]), ...open].join(','));
  } catch (err) {
    log.warn(
      { err, ports: open },
      `outgoing connections of websites may take these ports. Choose ports outside of ${first} to ${last}, or add them to ` +
        'the sysctl net.ipv4.ip_local_reserved_ports',
    );
  }
}

/** `8080,9148-9150` */
function parseRanges(text: string): PortRange[] {
  return text.split(',').flatMap((part): PortRange[] => {
    const [first, last = first] = part.split('-').map(Number);
    return part === '' || first === undefined || last === undefined ? [] : [[first, last]];
  });
}
