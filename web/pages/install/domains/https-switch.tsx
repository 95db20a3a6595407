import { useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Domain } from '../../../api/domains.ts';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { changeDomain } from './change-domain.ts';
import styles from './domains.module.css';

/** Whether visitors by HTTP are sent to HTTPS. */
export function HttpsSwitch({
  installId,
  domain,
  warnsOf,
}: {
  installId: string;
  domain: Domain;
  /** Why browsers would warn of HTTPS, one sentence; null: they would not. */
  warnsOf: string | null;
}) {
  const queries = useQueryClient();
  const id = useId();
  const [pending, setPending] = useState(false);
  const [asking, setAsking] = useState(false);

  async function turn() {
    await changeDomain(queries, installId, domain.id, { secure_all_urls: !domain.secure_all_urls });
    showSuccess(
      domain.secure_all_urls
        ? `Visitors of ${displayName(domain.name)} may use HTTP again.`
        : `Visitors of ${displayName(domain.name)} are sent to HTTPS.`,
    );
  }

  async function turnAtOnce() {
    setPending(true);
    try {
      await turn();
    } catch (error) {
      showFailure(error);
    } finally {
      setPending(false);
    }
  }

  return (
    <span className={styles.switch}>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={domain.secure_all_urls}
        aria-checked={domain.secure_all_urls}
        aria-disabled={pending}
        onChange={() => {
          if (pending) return;
          if (warnsOf !== null && !domain.secure_all_urls) setAsking(true);
          else void turnAtOnce();
        }}
      />
      <label htmlFor={id}>
        Send visitors <span className="visually-hidden">of {displayName(domain.name)} </span>to HTTPS
      </label>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Send visitors of ${displayName(domain.name)} to HTTPS`}
        description={
          <p>
            {warnsOf} Browsers warn every visitor of it, and most visitors turn back. Better wait until the
            authority has issued a certificate.
          </p>
        }
        confirmLabel="Send them to HTTPS all the same"
        onConfirm={turn}
      />
    </span>
  );
}
