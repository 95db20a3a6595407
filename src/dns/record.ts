/** What stands before the content of every record (RFC 1035 section 4.1.3). */
export interface RecordHeader {
  /** The owner: lower case, no final dot; '' for the root. */
  name: string;
  /** As on the wire, like the class: 1 is A, and 1 is IN. */
  rrtype: number;
  class: number;
  /** Seconds. */
  ttl: number;
  /** Length of the content in bytes, as it was on the wire. */
  rdlength: number;
}

/** A record of one of the types that Homeport reads. Names in it are lower case and have no final dot. */
export type DnsRecord =
  | { type: 'A' | 'AAAA'; hdr: RecordHeader; address: string }
  | { type: 'CNAME' | 'NS'; hdr: RecordHeader; target: string }
  | { type: 'MX'; hdr: RecordHeader; exchange: string; preference: number }
  /** `text`: its character-strings joined (RFC 7208 section 3.3); bytes that are no printable UTF-8 as `\ddd`. */
  | { type: 'TXT'; hdr: RecordHeader; text: string }
  | SoaRecord
  | CaaRecord;

export interface SoaRecord {
  type: 'SOA';
  hdr: RecordHeader;
  ns: string;
  mbox: string;
  serial: number;
  /** Seconds, as are the three that follow. */
  refresh: number;
  retry: number;
  expire: number;
  minttl: number;
}

/** RFC 8659 section 4.1. */
export interface CaaRecord {
  type: 'CAA';
  hdr: RecordHeader;
  flag: number;
  tag: string;
  value: string;
}

export type RecordType = DnsRecord['type'];

export type AddressRecord = Extract<DnsRecord, { type: 'A' | 'AAAA' }>;
