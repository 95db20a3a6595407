import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { Domain } from '../../../api/domains.ts';
import { ConfirmDialog } from '../../../components/dialog.tsx';
import { displayName } from '../../../components/display-name.ts';
import { showFailure, showSuccess } from '../../../components/toast.tsx';
import { changeDomain } from './change-domain.ts';
import styles from './domains.module.css';

/** A switch that redirects HTTP visitors to HTTPS. */
export function HttpsSwitch({
  installId,
  domain,
  warning,
}: {
  installId: string;
  domain: Domain;
  /** Why browsers would warn visitors over HTTPS, as a sentence; null if they would not. */
  warning: string | null;
}) {
  const queries = useQueryClient();
  const id = useId();
  const [asking, setAsking] = useState(false);

  async function toggle() {
    await changeDomain(queries, installId, domain.id, { secure_all_urls: !domain.secure_all_urls });
    showSuccess(
      domain.secure_all_urls
        ? `${displayName(domain.name)} no longer redirects to HTTPS.`
        : `${displayName(domain.name)} now redirects to HTTPS.`,
    );
  }

  const toggleNow = useMutation({ mutationFn: toggle, onError: showFailure });

  return (
    <span className={styles.switch}>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={domain.secure_all_urls}
        aria-checked={domain.secure_all_urls}
        aria-disabled={toggleNow.isPending}
        onChange={() => {
          if (toggleNow.isPending) return;
          if (warning !== null && !domain.secure_all_urls) setAsking(true);
          else toggleNow.mutate();
        }}
      />
      <label htmlFor={id}>
        Redirect <span className="visually-hidden">{displayName(domain.name)} </span>to HTTPS
      </label>
      <ConfirmDialog
        open={asking}
        onOpenChange={setAsking}
        title={`Redirect ${displayName(domain.name)} to HTTPS`}
        description={
          <p>
            {warning} Browsers warn every visitor, and most visitors leave. We recommend that you wait for a
            certificate from the authority.
          </p>
        }
        confirmLabel="Redirect anyway"
        onConfirm={toggle}
      />
    </span>
  );
}
