import { useState } from 'react';
import { useCertificates } from '../../../api/certificates.ts';
import { useDomainStates, useDomains } from '../../../api/domains.ts';
import type { Install } from '../../../api/installs.ts';
import { useOperations } from '../../../api/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Empty, Section } from '../../../components/page.tsx';
import { useMay } from '../../../session/session.ts';
import { SearchedDomains } from '../domains/searched-domains.tsx';
import { CertificateCard } from './certificate-card.tsx';
import { showsNoAuthority } from './certificate-sentences.ts';
import { type ListedCertificate, listCertificates } from './listed-certificates.ts';
import { UploadCertificate } from './upload-certificate.tsx';

/** The certificates of an install: list, order and upload. */
export function CertificatesSection({ install }: { install: Install }) {
  const domains = useDomains(install.id);
  const states = useDomainStates(install.id);
  const certificates = useCertificates(install.id);
  const mayWork = useMay(install.account.id)('install.work');
  const [uploading, setUploading] = useState(false);
  return (
    <Section
      title="Certificates"
      actions={
        mayWork &&
        install.status === 'active' && (
          <Button variant="primary" onClick={() => setUploading(true)}>
            Upload certificate
          </Button>
        )
      }
    >
      <Loaded query={domains} what="domains">
        {(all) => (
          <Loaded query={states} what="domains">
            {(details) => (
              <Loaded query={certificates} what="certificates">
                {(found) => (
                  <CertificateList
                    install={install}
                    listed={listCertificates(all, details, found)}
                    mayWork={mayWork}
                    onUpload={() => setUploading(true)}
                  />
                )}
              </Loaded>
            )}
          </Loaded>
        )}
      </Loaded>
      <UploadCertificate open={uploading} onOpenChange={setUploading} installId={install.id} />
    </Section>
  );
}

function CertificateList({
  install,
  listed,
  mayWork,
  onUpload,
}: {
  install: Install;
  listed: ListedCertificate[];
  mayWork: boolean;
  onUpload(): void;
}) {
  const operations = useOperations(install.id).data;
  const hasAuthority = !listed.some(({ domains }) => domains.some(showsNoAuthority));
  return (
    <>
      <p>
        {hasAuthority
          ? 'Homeport orders and renews a certificate for each domain that points here. You can also upload your own.'
          : 'Your provider has no certificate authority, so Homeport cannot order certificates. You can upload your own.'}
      </p>
      <SearchedDomains
        items={listed}
        namesOf={({ domains }) => domains.map(({ domain }) => domain.name)}
        empty={<Empty>This install has no domains yet.</Empty>}
      >
        {(one) => (
          <CertificateCard
            key={one.id}
            install={install}
            listed={one}
            operations={operations?.results ?? []}
            next={operations?.next.order_certificate ?? null}
            mayWork={mayWork}
            hasAuthority={hasAuthority}
            onUpload={onUpload}
          />
        )}
      </SearchedDomains>
    </>
  );
}
