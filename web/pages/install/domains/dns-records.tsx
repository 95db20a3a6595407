import { useState } from 'react';
import type { Domain } from '../../../api/domains.ts';
import { Copyable } from '../../../components/copy.tsx';
import { displayName } from '../../../components/display-name.ts';
import { type DnsRecord, dnsAdvice } from './dns-advice.ts';
import styles from './domains.module.css';

/** The DNS records that point a domain here. */
export function DnsRecords({ domain, initiallyOpen }: { domain: Domain; initiallyOpen: boolean }) {
  // A check that succeeds does not close what the user reads.
  const [open] = useState(initiallyOpen);
  const { apex, cname, addresses } = dnsAdvice(domain);
  const { cname: defaultDomain } = domain.network_details.dns_config_info;
  return (
    <details className={styles.details} open={open}>
      <summary>
        DNS records<span className="visually-hidden"> for {displayName(domain.name)}</span>
      </summary>
      <div className={styles.stack}>
        {cname && (
          <>
            <p>At your DNS provider, add this record and remove all A and AAAA records of the name:</p>
            <Records domain={displayName(domain.name)} records={[cname]} />
          </>
        )}
        {cname && addresses.length > 0 && <p>If a CNAME is not possible, add these records instead:</p>}
        {apex && addresses.length > 0 && (
          <p>
            {displayName(domain.name)} is the apex of its zone, which cannot have a CNAME. Add these records
            at your DNS provider:
          </p>
        )}
        {addresses.length > 0 && <Records domain={displayName(domain.name)} records={addresses} />}
        {apex && (
          <p>
            If your DNS provider offers ALIAS or ANAME records, you can use one with the value{' '}
            <code>{defaultDomain}</code>. It keeps working if the addresses change.
          </p>
        )}
        <p className={styles.soft}>
          Some providers expect the full name {displayName(domain.name)} instead of the short one.
        </p>
        <p className={styles.soft}>
          The change can take up to the TTL of the old record, usually an hour. Then select Check now.
        </p>
      </div>
    </details>
  );
}

/** DNS records with Copy buttons. */
export function Records({ domain, records }: { domain: string; records: DnsRecord[] }) {
  return (
    <ul className={styles.records}>
      {records.map(({ type, name, value }) => (
        <li key={`${type} ${value}`}>
          <dl className={styles.record}>
            <div>
              <dt>Type</dt>
              <dd className={styles.type}>{type}</dd>
            </div>
            <div>
              <dt>Name</dt>
              <dd>
                <Copyable text={name} what={`the ${type} name of ${domain}`} />
              </dd>
            </div>
            <div>
              <dt>Value</dt>
              <dd>
                <Copyable text={value} what={`the ${type} value of ${domain}`} />
              </dd>
            </div>
          </dl>
        </li>
      ))}
    </ul>
  );
}
