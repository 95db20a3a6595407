/**
 * The header of a resource record as the status report's `hdr` (gaps section 5): numbers as on the wire; the name in
 * lower case and without the final dot, '' for the root.
 */
export interface RecordHeader {
  name: string;
  rrtype: number;
  class: number;
  /** Seconds. */
  ttl: number;
  /** Octets of the record's content as it was sent, so with names compressed if they were. */
  rdlength: number;
}

/** The resource records that Homeport reads. Names in them are as in {@link RecordHeader}. */
export type DnsRecord =
  | { type: 'A' | 'AAAA'; hdr: RecordHeader; address: string }
  | { type: 'CNAME' | 'NS'; hdr: RecordHeader; target: string }
  | { type: 'MX'; hdr: RecordHeader; exchange: string; preference: number }
  /** `text`: the character-strings joined (RFC 7208 3.3), read as UTF-8, unprintable bytes as `\ddd`. */
  | { type: 'TXT'; hdr: RecordHeader; text: string }
  | {
      type: 'SOA';
      hdr: RecordHeader;
      ns: string;
      mbox: string;
      serial: number;
      refresh: number;
      retry: number;
      expire: number;
      minttl: number;
    }
  | { type: 'CAA'; hdr: RecordHeader; flag: number; tag: string; value: string };

export type RecordType = DnsRecord['type'];

export type AddressRecord = Extract<DnsRecord, { address: string }>;
export type SoaRecord = Extract<DnsRecord, { type: 'SOA' }>;
export type CaaRecord = Extract<DnsRecord, { type: 'CAA' }>;
