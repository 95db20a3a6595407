import { encode } from 'uqr';
import { qrPath } from './qr-path.ts';
import styles from './security.module.css';

/** Around the code a reader needs four squares of nothing (ISO/IEC 18004). */
const QUIET_ZONE = 4;

/** A QR code, dark on light in every theme, as not all readers take it the other way round. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { ecc: 'M', border: QUIET_ZONE });
  return (
    <svg className={styles.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={qrPath(data)} shapeRendering="crispEdges" />
    </svg>
  );
}
