import { Link } from 'wouter';
import styles from './tags.module.css';

/** Tags in one line: the first few, and how many there are more. With `listAt`, each opens that list filtered by it. */
export function Tags({
  tags,
  most = 2,
  listAt,
}: {
  tags: readonly string[];
  most?: number;
  listAt?: string;
}) {
  if (tags.length === 0) return null;
  const hidden = tags.slice(most);
  return (
    <span className={styles.tags}>
      {tags.slice(0, most).map((tag) =>
        listAt === undefined ? (
          <span key={tag} className={styles.tag}>
            {tag}
          </span>
        ) : (
          <Link key={tag} className={styles.tag} href={`${listAt}?tags=${encodeURIComponent(tag)}`}>
            {tag}
          </Link>
        ),
      )}
      {hidden.length > 0 && (
        <span className={styles.more}>
          +{hidden.length} <span className="visually-hidden">more: {hidden.join(', ')}</span>
        </span>
      )}
    </span>
  );
}
