/** Rows of a list that loads. Its looks are in first/frame.css, because the server's first document has them, too. */
export function ListSkeleton({ label }: { label: string }) {
  return (
    <div className="skeleton" role="progressbar" aria-label={label}>
      <span className="skeleton-rows">
        <span />
        <span />
        <span />
        <span />
      </span>
    </div>
  );
}

/** A page whose script or subject loads. */
export function PageSkeleton({ label = 'Loading' }: { label?: string }) {
  return (
    <div className="skeleton" role="progressbar" aria-label={label}>
      <span className="skeleton-title" />
      <span className="skeleton-rows">
        <span />
        <span />
        <span />
        <span />
        <span />
        <span />
      </span>
    </div>
  );
}
