/**
 * The header of a resource record, as in `hdr` of a status report (docs/api.md, Status reports). Numbers are as on the
 * wire. The name is in lower case without a final dot; '' is the root.
 */
export interface RecordHeader {
  name: string;
  rrtype: number;
  class: number;
  /** Seconds. */
  ttl: number;
  /** Length of the record's content on the wire, in octets, including name compression. */
  rdlength: number;
}

/** The resource records that Homeport reads. Their names have the format of {@link RecordHeader}. */
export type DnsRecord =
  | { type: 'A' | 'AAAA'; hdr: RecordHeader; address: string }
  | { type: 'CNAME' | 'NS'; hdr: RecordHeader; target: string }
  | { type: 'MX'; hdr: RecordHeader; exchange: string; preference: number }
  /** `text`: the joined character-strings (RFC 7208 section 3.3) as UTF-8, with unprintable bytes as `\ddd`. */
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
