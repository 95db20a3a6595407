import type { Install } from '../../../api/installs.ts';
import { isUnderWay, type Operation } from '../../../api/operations.ts';
import { displayName } from '../../../components/display-name.ts';
import { ProgressBar } from '../../../components/notice.tsx';
import { Time } from '../../../components/time.tsx';
import operationStyles from '../operations/operations.module.css';
import { OperationItem } from '../operations/operations.tsx';
import { orderObstacle } from './certificate-sentences.ts';
import styles from './certificates.module.css';
import type { ServedDomain } from './listed-certificates.ts';
import { OrderCertificate } from './order-certificate.tsx';

/** The orders of one domain: the one in progress, why the last one failed, and a button for a new one. */
export function CertificateOrders({
  install,
  served,
  order,
  next,
  mayOrder,
  named,
  replacesUpload,
}: {
  install: Install;
  served: ServedDomain;
  /** The latest order of a user, if it is to be shown. */
  order: Operation | null;
  next: string | null;
  /** Whether the user may order certificates, and there is an authority. */
  mayOrder: boolean;
  /** Whether to show the name of the domain, because the certificate has several. */
  named: boolean;
  replacesUpload: boolean;
}) {
  const { domain, state } = served;
  const name = displayName(domain.name);
  const obstacle = orderObstacle(served);
  const offered = mayOrder && install.status === 'active' && obstacle === null;
  const pending = order !== null && isUnderWay(order);
  const reason = obstacle === null ? state.ssl_reason : null;
  return (
    <div className={styles.orders}>
      <div className={styles.row}>
        {named && <strong>{name}</strong>}
        {offered && (
          <OrderCertificate
            installId={install.id}
            domain={domain}
            next={next}
            pending={pending}
            replacesUpload={replacesUpload}
          />
        )}
      </div>
      {obstacle !== null && <p>{obstacle}</p>}
      {reason !== null && reason !== order?.error?.message && (
        <p>
          The last order for {name} failed: {reason}
        </p>
      )}
      <ul className={operationStyles.list} aria-live="polite" aria-label={`Order for ${name}`}>
        {order !== null && <OperationItem operation={order} />}
      </ul>
      {pending && <ProgressBar label={`Ordering a certificate for ${name}`} />}
      {reason !== null && state.retry_at !== null && !pending && (
        <p className={styles.soft}>
          Next automatic order: <Time at={state.retry_at} exact />.
        </p>
      )}
    </div>
  );
}
