import type { Domain } from '../../../api/domains.ts';
import { Copyable } from '../../../components/copy.tsx';
import { displayName } from '../../../components/display-name.ts';
import { type DnsRecord, dnsAdvice } from './dns-advice.ts';
import styles from './domains.module.css';

/** What to set in the DNS so that visitors of a domain get here. */
export function DnsRecords({ domain }: { domain: Domain }) {
  const { apex, cname, addresses } = dnsAdvice(domain);
  const { cname: ownName } = domain.network_details.dns_config_info;
  return (
    <details className={styles.details}>
      <summary>
        Which DNS record to set<span className="visually-hidden"> for {displayName(domain.name)}</span>
      </summary>
      <div className={styles.stack}>
        {cname && (
          <>
            <p>
              Where the DNS of this domain is kept, set this record, and remove A and AAAA records of the
              name:
            </p>
            <Records domain={displayName(domain.name)} records={[cname]} />
          </>
        )}
        {cname && addresses.length > 0 && <p>If a CNAME is not possible, set these in its place:</p>}
        {apex && addresses.length > 0 && (
          <p>
            {displayName(domain.name)} is the top of its zone, and a CNAME cannot stand there. Set these where
            its DNS is kept:
          </p>
        )}
        {addresses.length > 0 && <Records domain={displayName(domain.name)} records={addresses} />}
        {apex && (
          <p>
            If your DNS provider offers ALIAS or ANAME records, one with the value <code>{ownName}</code> does
            as well, and follows if the addresses ever change.
          </p>
        )}
        <p className={styles.soft}>
          Some providers want the whole name {displayName(domain.name)} in the place of the short one.
        </p>
        <p className={styles.soft}>
          It may take as long as the old record was allowed to be kept, mostly an hour. Then press Check now.
        </p>
      </div>
    </details>
  );
}

/** DNS records to set, each part to be copied. */
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
