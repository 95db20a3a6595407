import { useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import type { Operation } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { Badge, Tag } from '../../../components/notice.tsx';
import { Facts } from '../../../components/page.tsx';
import { formatTime, Time, useNow } from '../../../components/time.tsx';
import { CertificateDialog } from '../domains/certificate-dialog.tsx';
import { CertificateOrders } from './certificate-orders.tsx';
import { certificateState, renewalSentence, SOURCES } from './certificate-sentences.ts';
import styles from './certificates.module.css';
import { type ListedCertificate, shownOrder } from './listed-certificates.ts';

const EVERY_MINUTE_MS = 60_000;

/** A certificate with the domains that use it and their orders, or a domain without a certificate. */
export function CertificateCard({
  install,
  listed: { certificate, domains },
  operations,
  next,
  mayWork,
  hasAuthority,
  onUpload,
}: {
  install: Install;
  listed: ListedCertificate;
  operations: readonly Operation[];
  /** When the next order of the install is allowed; null for now. */
  next: string | null;
  mayWork: boolean;
  /** Whether the provider has a certificate authority. */
  hasAuthority: boolean;
  onUpload(): void;
}) {
  const now = useNow(EVERY_MINUTE_MS);
  const [open, setOpen] = useState(false);
  const [first] = domains;
  const name = displayName(first.domain.name);
  const others = domains.length - 1;
  const title = others === 0 ? name : `${name} and ${others} more`;
  const state = certificate && certificateState(certificate, now);
  const isUpload = certificate?.cert_source === 'THIRD_PARTY';
  const names = certificate?.domains.map(displayName).join(', ');
  const users = domains.map(({ domain }) => displayName(domain.name)).join(', ');
  const actions = certificate && (
    <>
      {isUpload && mayWork && (
        <Button small aria-label={`Replace the certificate of ${title}`} onClick={onUpload}>
          Replace
        </Button>
      )}
      <Button small aria-label={`Details of the certificate of ${title}`} onClick={() => setOpen(true)}>
        Details
      </Button>
    </>
  );
  return (
    <li className={styles.card}>
      <div className={styles.head}>
        <h3 className={styles.name}>{title}</h3>
        <div className={styles.badges}>
          {certificate && state ? (
            <>
              <Tag>{SOURCES[certificate.cert_source]}</Tag>
              <Badge tone={state.tone}>{state.word}</Badge>
            </>
          ) : (
            <Badge tone="busy">No certificate yet</Badge>
          )}
        </div>
      </div>
      {certificate && (
        <Facts
          facts={[
            ['Names', names],
            ...(users === names ? [] : [['Used by', users] as const]),
            [
              'Issuer',
              certificate.cert_source === 'SELF_SIGNED' ? 'Homeport' : certificate.issuer || 'unknown',
            ],
            ['Expires', <Expiry key="expires" at={certificate.expires_time} now={now} />],
            ['Renewal', renewalSentence(certificate, first, { now, date: formatTime })],
          ]}
        />
      )}
      {domains.map((served) => (
        <CertificateOrders
          key={served.domain.id}
          install={install}
          served={served}
          order={shownOrder(operations, served.domain.id, certificate, now)}
          next={next}
          mayOrder={mayWork && hasAuthority}
          named={others > 0}
          replacesUpload={isUpload && state?.tone !== 'bad'}
        >
          {others === 0 && actions}
        </CertificateOrders>
      ))}
      {others > 0 && <div className={styles.row}>{actions}</div>}
      <CertificateDialog open={open} onOpenChange={setOpen} install={install} domain={first.domain} />
    </li>
  );
}

function Expiry({ at, now }: { at: string; now: Date }) {
  const isOver = Date.parse(at) <= now.getTime();
  return (
    <>
      {isOver ? 'Expired' : 'Valid until'} <Time at={at} exact /> (<Time at={at} />
      ).
    </>
  );
}
