# SPDX-License-Identifier: LGPL-2.1-or-later
"""What separate_bench.py compares. A method's cut(mask, min_area) returns an image of parts, 0 for background; parts
below min_area are removed by the bench, where the method does not do it itself. Its work(mask) returns the function that
is timed, or None.
"""

import cudaccl
import cv2
import numpy
from scipy import ndimage
from skimage.morphology import h_maxima
from skimage.segmentation import watershed

SQUARE = numpy.ones((3, 3), bool)
RECOMMENDED = 0.97
cv2.setNumThreads(1)


def components(mask):
    return cudaccl.label(mask, threads=1).labels


class Method:
    parameter = ""
    removes_small_parts = False

    def work(self, mask):
        return None


class Labels(Method):
    """Components as they are. Timed: what the rest of a frame takes."""

    name = "labels"
    settings = {}
    removes_small_parts = True

    def cut(self, mask, min_area):
        return cudaccl.label(mask, threads=1, min_area=min_area, **self.settings).labels

    def work(self, mask):
        engine = cudaccl.Engine(mask.shape, backend="cpu", threads=1, max_components=1 << 20, min_area=25, **self.settings)
        image = mask.astype(numpy.uint8)
        return lambda: engine(image)


class Separate(Labels):
    name = "separate"

    def __init__(self, neck):
        self.parameter, self.settings = f"{neck}", {"separate": neck}

    def work(self, mask):
        return super().work(mask) if self.settings["separate"] == RECOMMENDED else None


class ScikitImage(Method):
    """The distance, smoothed; maxima that rise by h; the watershed. As in its documentation, which does not smooth."""

    name = "scikit-image"
    timed = {(0, 1), (1.5, 0.75)}

    def __init__(self, sigma, h):
        self.sigma, self.h = sigma, h
        self.parameter = f"sigma {sigma}, h {h}"

    def cut(self, mask, _=0):
        height = ndimage.distance_transform_edt(mask) if not mask.all() else mask.astype(float)
        if self.sigma:
            height = ndimage.gaussian_filter(height, self.sigma)
        markers = ndimage.label(h_maxima(height, self.h), SQUARE)[0]
        return watershed(-height, markers, mask=mask, connectivity=2)

    def work(self, mask):
        return (lambda: self.cut(mask)) if (self.sigma, self.h) in self.timed else None


class OpenCv(Method):
    """OpenCV's tutorial: markers are where the distance exceeds a share of its maximum, here that of the component, which
    finds more. Timed is the tutorial itself, with the maximum of the frame.
    """

    name = "opencv"

    def __init__(self, share):
        self.share, self.parameter = share, f"{share}"

    def cut(self, mask, _=0):
        height = self.distance(mask.astype(numpy.uint8))
        labels = components(mask)
        tops = numpy.zeros(labels.max() + 1, numpy.float32)
        numpy.maximum.at(tops, labels, height)
        seeds, background = self.flood(mask, height, height > self.share * tops[labels])
        # The watershed leaves lines; a pixel of one belongs to the nearest part.
        nearest = ndimage.distance_transform_edt((seeds <= 0) | (seeds == background), return_distances=False,
                                                 return_indices=True)
        seeds = numpy.where(seeds <= 0, seeds[tuple(nearest)], seeds)
        return numpy.where(mask & (seeds != background), seeds, 0)

    def distance(self, image):
        return cv2.distanceTransform(image, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)

    def flood(self, mask, height, is_marker):
        """(the watershed, its number for background)."""
        n_labels, markers = cv2.connectedComponents((is_marker & mask).astype(numpy.uint8), connectivity=8)
        seeds = numpy.where(mask, markers, n_labels).astype(numpy.int32)
        relief = (255 - cv2.normalize(height, None, 0, 255, cv2.NORM_MINMAX)).astype(numpy.uint8)
        return cv2.watershed(cv2.cvtColor(relief, cv2.COLOR_GRAY2BGR), seeds), n_labels

    def work(self, mask):
        def tutorial():
            height = self.distance(image)
            return self.flood(mask, height, height > self.share * height.max())

        image = mask.astype(numpy.uint8)
        return tutorial if self.share == 0.5 else None


METHODS = [
    Labels(), *(Separate(neck) for neck in (0.9, 0.95, RECOMMENDED)),
    *(ScikitImage(sigma, h) for sigma in (0, 1, 1.5, 2) for h in (0.5, 0.75, 1)),
    *(OpenCv(share) for share in (0.5, 0.6, 0.7, 0.8)),
]
