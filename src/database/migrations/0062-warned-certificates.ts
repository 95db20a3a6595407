/** The few certificates that their owners were warned of, for the notifications about them. */
export function warnedCertificates(): string[] {
  return ['create index certificates_warned on certificates (domain_id) where warned_days is not null'];
}
