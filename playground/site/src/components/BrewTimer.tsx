import type { RenderableProps } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** An island: rendered in the build, hydrated in the browser. Its children may contain snippets. */
export default function BrewTimer({ minutes, children }: RenderableProps<{ minutes: number }>) {
  const [left, setLeft] = useState<number | undefined>(undefined);
  const isRunning = left !== undefined && left > 0;

  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(() => setLeft((seconds = 0) => seconds - 1), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);

  return (
    <section class="card">
      <p role="timer">
        {left === undefined ? `${minutes} minutes` : left > 0 ? `${left} seconds left` : 'Press, and pour.'}
      </p>
      <button type="button" onClick={() => setLeft(minutes * 60)}>
        {isRunning ? 'Start again' : 'Start'}
      </button>
      {children}
    </section>
  );
}
