"""The photograph example against the same tone mapping in NumPy."""

import os
import subprocess

import numpy as np

import tool
from tool import EXAMPLES, ToolTest

PHOTO = os.environ["INGOT_PHOTO"]
PHOTOS = os.path.join(EXAMPLES, "photo", "photos")


def read_ppm(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, width, height, top = data[:20].split()[:4]
    assert (magic, top) == (b"P6", b"255")
    width, height = int(width), int(height)
    return np.frombuffer(data[-width * height * 3 :], np.uint8).reshape(height, width, 3)


def tone_mapped(rgb, exposure=0.8, saturation=0.9, vignette=0.6):
    """In float32 throughout, as the graph; within a grey level, since NumPy's pow and sums round differently."""
    f = np.float32
    s = rgb.astype(f) / f(255)
    x = np.where(s <= f(0.04045), s / f(12.92), ((s + f(0.055)) / f(1.055)) ** f(2.4)) * f(exposure)
    x = np.clip(x * (f(2.51) * x + f(0.03)) / (x * (f(2.43) * x + f(0.59)) + f(0.14)), f(0), f(1))
    luma = (x * f([0.2126, 0.7152, 0.0722])).sum(2, keepdims=True, dtype=f)
    x = luma + (x - luma) * f(saturation)
    h, w, _ = rgb.shape
    y_at = ((2 * np.arange(h, dtype=f) + 1) / f(h) - 1)[:, None, None]
    x_at = ((2 * np.arange(w, dtype=f) + 1) / f(w) - 1)[None, :, None]
    x = np.clip(x * (1 - f(vignette) * (x_at**2 + y_at**2) / 2), f(0), f(1))
    x = np.where(x <= f(0.0031308), f(12.92) * x, f(1.055) * x ** f(1 / 2.4) - f(0.055))
    return np.clip(np.round(x * f(255)), 0, 255)


class Photo(ToolTest):
    def photo(self, *names):
        paths = [os.path.join(PHOTOS, n) for n in names]
        return subprocess.run(
            [PHOTO, self.folder, *paths], env=self.environment(), capture_output=True, text=True, check=False
        )

    def test_pictures_are_those_of_numpy_within_a_grey_level(self):
        done = self.photo("coffee.ppm", "chelsea.ppm")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ["coffee.ppm", "chelsea.ppm"]:
            with self.subTest(name):
                before, after = read_ppm(os.path.join(PHOTOS, name)), read_ppm(self.path(name))
                want = tone_mapped(before)
                error = np.abs(after.astype(int) - want.astype(int))
                self.assertLessEqual(error.max(), 1)
                self.assertLess((error > 0).mean(), 0.001)
                # A real photograph comes out as one: not flat, and with the corners darker.
                self.assertGreater(after.std(), 20)
        for part in [
            "kernels",
            "launches",
            "bytes moved",
            "first call",
            "warm disk cache",
            "equal bit for bit",
        ]:
            self.assertIn(part, done.stdout)

    def test_bad_pictures_are_refused(self):
        bad = self.write("bad.ppm", b"P6\n100 100\n255\nshort")
        for path in [
            bad,
            self.path("none.ppm"),
            self.write("p5.ppm", b"P5\n1 1\n255\n0"),
            self.write("e.ppm", b"P6\n0 1\n255\n"),
        ]:
            done = subprocess.run(
                [PHOTO, self.folder, path, path], env=self.environment(), capture_output=True, check=False
            )
            self.assertEqual(done.returncode, 1)
        self.assertEqual(self.photo("coffee.ppm").returncode, 2)


if __name__ == "__main__":
    tool.main()
