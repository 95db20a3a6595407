import { displayName } from './display-name.ts';
import styles from './domain-name.module.css';

/** A domain name as in {@link displayName}. A long one breaks before a dot and not within a word. */
export function DomainName({ name }: { name: string }) {
  const [first, ...others] = displayName(name).split('.');
  return (
    <>
      {first}
      {others.map((label, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a name may contain a label twice, and its labels keep their order
        <span key={index} className={styles.label}>
          .{label}
        </span>
      ))}
    </>
  );
}
