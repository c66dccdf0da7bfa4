/** The slope of the line that lies closest to points, by least squares: y for each unit of x. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [middleX, middleY] = [mean(([x]) => x), mean(([, y]) => y)];
  const across = mean(([x]) => (x - middleX) ** 2);
  const along = mean(([x, y]) => (x - middleX) * (y - middleY));
  return across === 0 ? 0 : along / across;
}
