import { Link } from 'wouter';
import type { Install } from '../../api/installs.ts';
import { type Reason, useAttentionCount, useReasons } from '../../api/overview.ts';
import { Notice } from '../../components/notice.tsx';
import { useNow } from '../../components/time.tsx';
import { TryAgain } from '../install/operations/try-again.tsx';
import styles from './account.module.css';
import { attentionLabel } from './attention-labels.ts';
import { ATTENTION } from './search.ts';

/** Number of reasons listed for an install. Its own pages show all. */
const MOST_SHOWN = 3;

/** The reasons why an install needs attention, each with a link to where to fix it. */
export function Reasons({ installId, reasons }: { installId: string; reasons: readonly Reason[] }) {
  const now = useNow(60_000);
  const more = reasons.length - MOST_SHOWN;
  return (
    <ul className={styles.reasons}>
      {reasons.slice(0, MOST_SHOWN).map((reason) => {
        const { sentence, section } = attentionLabel(reason, now);
        return (
          <li key={sentence}>
            <Link href={`/installs/${installId}${section}`}>{sentence}</Link>
            <Retry reason={reason} sentence={sentence} />
          </li>
        );
      })}
      {more > 0 && <li className={styles.soft}>and {more} more</li>}
    </ul>
  );
}

/** A notice with the reasons why an install needs attention, and what to do; empty without any. Lost data has its own notice. */
export function InstallAttention({ install }: { install: Install }) {
  const { id, name } = install;
  const now = useNow(60_000);
  const reasons = useReasons(install)?.filter(({ kind }) => kind !== 'data_lost') ?? [];
  if (reasons.length === 0) return null;
  const kinds = [...new Set(reasons.map(({ kind }) => kind))];
  return (
    <Notice tone="bad" title={`${name} needs attention`}>
      <ul className={styles.causes}>
        {kinds.map((kind) => (
          <Cause
            key={kind}
            installId={id}
            reasons={reasons.filter((reason) => reason.kind === kind)}
            now={now}
          />
        ))}
      </ul>
    </Notice>
  );
}

/** The reasons of one kind, and what to do about them. */
function Cause({ installId, reasons, now }: { installId: string; reasons: readonly Reason[]; now: Date }) {
  const labels = reasons.map((reason) => ({ reason, ...attentionLabel(reason, now) }));
  const more = labels.length - MOST_SHOWN;
  return (
    <li>
      {labels.slice(0, MOST_SHOWN).map(({ reason, sentence, section }) => (
        <div key={sentence}>
          <Link href={`/installs/${installId}${section}`}>{sentence}</Link>
          <Retry reason={reason} sentence={sentence} />
        </div>
      ))}
      {more > 0 && <div>and {more} more</div>}
      <div>{labels[0]?.advice}</div>
    </li>
  );
}

/** A button that repeats the work that failed, if it can be repeated. */
function Retry({ reason, sentence }: { reason: Reason; sentence: string }) {
  const { retry_operation_id } = reason;
  if (retry_operation_id === null) return null;
  return (
    <>
      {' '}
      <TryAgain operationId={retry_operation_id} what={sentence} />
    </>
  );
}

/** A notice with the number of installs that need attention and a link to them; empty without any. */
export function AttentionNotice({ accountId, onFollow }: { accountId: string; onFollow?(): void }) {
  const count = useAttentionCount(accountId) ?? 0;
  if (count === 0) return null;
  return (
    <Notice tone="bad">
      {count === 1 ? '1 install needs attention.' : `${count} installs need attention.`}{' '}
      <Link href={`/accounts/${accountId}/installs?status=${ATTENTION}`} onClick={onFollow}>
        Show installs that need attention
      </Link>
    </Notice>
  );
}
