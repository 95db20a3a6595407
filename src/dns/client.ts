import type { DnsRecord, RecordType } from './record.ts';

/** A DNS server; `host` is an IP address. */
export interface DnsServer {
  host: string;
  port: number;
}

/** One question; `recursive`: asked of a resolver (the RD bit), not of an authoritative server. */
export interface DnsQuestion {
  name: string;
  type: RecordType;
  recursive: boolean;
}

/** A server's answer. Records of types that Homeport does not read are left out. */
export interface DnsAnswer {
  server: DnsServer;
  /** NOERROR, NXDOMAIN, SERVFAIL, REFUSED … */
  rcode: string;
  authoritative: boolean;
  answers: DnsRecord[];
  authorities: DnsRecord[];
  additionals: DnsRecord[];
}

/** No valid answer came in time, or the signal ended the wait. */
export class DnsTimeout extends Error {
  override name = 'DnsTimeout';
}

/** The server cannot be reached, or what answers there does not speak DNS. */
export class DnsUnreachable extends Error {
  override name = 'DnsUnreachable';
}

/**
 * Puts one question to one server: over UDP with EDNS(0), over TCP where the answer is truncated. Answers with another
 * id or question, or from elsewhere, are ignored; after `attemptMs` without an answer the question is sent once more.
 * Throws {@link DnsTimeout} or {@link DnsUnreachable}.
 */
export function askServer(
  _server: DnsServer,
  _question: DnsQuestion,
  _options: { signal: AbortSignal; attemptMs?: number },
): Promise<DnsAnswer> {
  return Promise.reject(new DnsUnreachable('No server is asked yet.'));
}
