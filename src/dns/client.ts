import type { DnsRecord, RecordType } from './record.ts';

/** A DNS server; `host` is an IP address. */
export interface DnsServer {
  host: string;
  port: number;
}

export interface DnsAnswer {
  server: DnsServer;
  /** NOERROR, NXDOMAIN, SERVFAIL, REFUSED … */
  rcode: string;
  authoritative: boolean;
  /** Records of types that Homeport does not read are left out, here and below. */
  answers: DnsRecord[];
  authorities: DnsRecord[];
  additionals: DnsRecord[];
}

/** No valid answer came in time. */
export class DnsTimeout extends Error {
  override name = 'DnsTimeout';
}

/** The connection is refused, there is no way to the server, or what answers there does not speak DNS. */
export class DnsUnreachable extends Error {
  override name = 'DnsUnreachable';
}

export function askServer(
  _server: DnsServer,
  _question: { name: string; type: RecordType; recursive: boolean },
  _options: { signal: AbortSignal; attemptMs?: number },
): Promise<DnsAnswer> {
  throw new Error('not built yet');
}
