import { type ReactNode, useId, useState } from 'react';
import type { Install } from '../../../api/installs.ts';
import { Button } from '../../../components/button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { formatTime } from '../../../components/formatted-time.ts';
import { Badge, Tag } from '../../../components/notice.tsx';
import { Facts } from '../../../components/page.tsx';
import { Time, useNow } from '../../../components/time.tsx';
import { Certificate } from '../domains/certificate.tsx';
import { CertificateOrders } from './certificate-orders.tsx';
import { certificateLabel, renewalSentence, SOURCES } from './certificate-sentences.ts';
import type { ShownCertificate } from './certificate-table.tsx';
import styles from './certificates.module.css';
import { titleOf } from './listed-certificates.ts';
import { UploadCertificate } from './upload-certificate.tsx';

const EVERY_MINUTE_MS = 60_000;

interface CertificateDrawerProps extends ShownCertificate {
  install: Install;
  /** When the next order of the install is allowed; null for now. */
  next: string | null;
  mayWork: boolean;
  /** Whether the provider has a certificate authority. */
  hasAuthority: boolean;
}

/** The details of a certificate, or of a domain without one: renewal, orders, downloads and the private key. */
export function CertificateDrawer({ onClose, ...shown }: CertificateDrawerProps & { onClose(): void }) {
  const now = useNow(EVERY_MINUTE_MS);
  const { certificate } = shown.listed;
  const label = certificateLabel(certificate, now);
  return (
    <Dialog
      drawer
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={`Certificate of ${titleOf(shown.listed)}`}
      description={
        <span className={styles.badges}>
          {certificate && <Tag>{SOURCES[certificate.cert_source]}</Tag>}
          <Badge tone={label.tone}>{label.word}</Badge>
        </span>
      }
    >
      <CertificateDetails {...shown} now={now} />
    </Dialog>
  );
}

function CertificateDetails({
  install,
  listed: { certificate, domains },
  orders,
  next,
  mayWork,
  hasAuthority,
  now,
}: CertificateDrawerProps & { now: Date }) {
  const [uploading, setUploading] = useState(false);
  const [first] = domains;
  const isUpload = certificate?.cert_source === 'THIRD_PARTY';
  const names = certificate?.domains.map(displayName).join(', ');
  const users = domains.map(({ domain }) => displayName(domain.name)).join(', ');
  const isValid = certificate !== null && certificateLabel(certificate, now).tone !== 'bad';
  return (
    <>
      {certificate && (
        <Facts
          facts={[
            ['Names', names],
            ...(users === names ? [] : [['Used by', users] as const]),
            [
              'Issuer',
              certificate.cert_source === 'SELF_SIGNED' ? 'Homeport' : certificate.issuer || 'unknown',
            ],
            ['Issued', <Time key="issued" at={certificate.approved_time} exact />],
            ['Expires', <Expiry key="expires" at={certificate.expires_time} now={now} />],
            ['Renewal', renewalSentence(certificate, first, { now, date: formatTime })],
          ]}
        />
      )}
      <Part title="Orders">
        {domains.map((served, index) => (
          <CertificateOrders
            key={served.domain.id}
            install={install}
            served={served}
            order={orders[index] ?? null}
            next={next}
            mayOrder={mayWork && hasAuthority}
            named={domains.length > 1}
            replacesUpload={isUpload && isValid}
          />
        ))}
        {!hasAuthority && <p>Your provider has no certificate authority. Upload a certificate instead.</p>}
        {mayWork && install.status === 'active' && (
          <div className={styles.row}>
            <Button small onClick={() => setUploading(true)}>
              {isUpload ? 'Replace with another certificate' : 'Upload certificate'}
            </Button>
          </div>
        )}
      </Part>
      {certificate && (
        <Part title="Files">
          <Certificate bare install={install} domain={first.domain} />
        </Part>
      )}
      <UploadCertificate open={uploading} onOpenChange={setUploading} installId={install.id} />
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section className={styles.part} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
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
